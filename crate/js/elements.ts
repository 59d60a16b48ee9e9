// The entry `shelfish/elements`: <shelfish-eval>, <shelfish-explorer> and <shelfish-game> on any page.

import { ShelfishEval } from "./elements/eval-element.js";
import { ShelfishExplorer } from "./elements/explorer-element.js";
import type {
  ShelfishEvalAttributes,
  ShelfishExplorerAttributes,
  ShelfishGameAttributes,
} from "./elements/types.js";
import { ShelfishGame } from "./game/game.js";

export type * from "./elements/types.js";
export { ShelfishEval, ShelfishExplorer, ShelfishGame };

for (const [name, element] of [
  ["shelfish-eval", ShelfishEval],
  ["shelfish-explorer", ShelfishExplorer],
  ["shelfish-game", ShelfishGame],
] as const) {
  if (globalThis.customElements && !customElements.get(name))
    customElements.define(name, element);
}

declare global {
  interface HTMLElementTagNameMap {
    "shelfish-eval": ShelfishEval;
    "shelfish-explorer": ShelfishExplorer;
    "shelfish-game": ShelfishGame;
  }
  namespace JSX {
    interface IntrinsicElements {
      "shelfish-eval": ShelfishEvalAttributes & { [name: string]: unknown };
      "shelfish-explorer": ShelfishExplorerAttributes & {
        [name: string]: unknown;
      };
      "shelfish-game": ShelfishGameAttributes & { [name: string]: unknown };
    }
  }
}
