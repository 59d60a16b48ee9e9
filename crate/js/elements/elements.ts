// The entry `shelfish/elements`: <shelfish-eval> and <shelfish-explorer> on any page.

import { ShelfishEval } from "./eval-element.js";
import { ShelfishExplorer } from "./explorer-element.js";
import type {
  ShelfishEvalAttributes,
  ShelfishExplorerAttributes,
} from "./types.js";

export type * from "./types.js";
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
