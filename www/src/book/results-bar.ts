/** A bar of the results of games. */
import type { Results } from "shelfish";
import { make } from "../shell/dom";
import { games, percent } from "./results";

/** Returns a bar of the results. Parts that are wide enough show their share. `source` names the games for screen readers, if there are several bars. */
export function resultsBar(results: Results, source = ""): HTMLElement {
  const count = games(results);
  const parts = (["white", "draws", "black"] as const).map((kind) => {
    const share = (100 * results[kind]) / count;
    const part = make(
      "span",
      { className: kind },
      share >= 26 ? percent(results[kind], count) : "",
    );
    part.style.width = `${share}%`;
    return part;
  });
  const words = `${source && `${source}: `}White ${percent(results.white, count)}, draws ${percent(results.draws, count)}, Black ${percent(results.black, count)}`;
  return make(
    "div",
    { className: "results", role: "img", "aria-label": words, title: words },
    ...parts,
  );
}
