// The entry `shelfish/elements`: <shelfish-eval>, <shelfish-explorer> and <shelfish-game> on any page.

import { ShelfishEval } from "./elements/eval-element.js";
import { ShelfishExplorer } from "./elements/explorer-element.js";
import type {
  ShelfishEvalAttributes,
  ShelfishExplorerAttributes,
} from "./elements/types.js";

export type * from "./elements/types.js";
export * from "./game/game.js";
export { ShelfishEval, ShelfishExplorer };

for (const [name, element] of [
  ["shelfish-eval", ShelfishEval],
  ["shelfish-explorer", ShelfishExplorer],
] as const) {
  if (globalThis.customElements && !customElements.get(name))
    customElements.define(name, element);
}

declare global {
  interface HTMLElementTagNameMap {
    "shelfish-eval": ShelfishEval;
    "shelfish-explorer": ShelfishExplorer;
  }
  namespace JSX {
    interface IntrinsicElements {
      "shelfish-eval": ShelfishEvalAttributes & { [name: string]: unknown };
      "shelfish-explorer": ShelfishExplorerAttributes & {
        [name: string]: unknown;
      };
    }
  }
}
