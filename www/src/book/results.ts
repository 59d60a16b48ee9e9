/** Results of games: counts, shares, bars, and the limits of a book. */
import type { Results } from "shelfish";
import { make } from "../shell/dom";
import { plural } from "../text/words";

/** Returns the number of games. */
export const games = ({ white, draws, black }: Results): number =>
  white + draws + black;

/** Formats a share in percent. A share below 1 % has a decimal. Only nothing is 0 %, and only all is 100 %. */
export function percent(part: number, whole: number): string {
  const share = (100 * part) / whole;
  if (share > 0 && share < 0.1) return "<0.1 %";
  if (share > 99 && share < 100) return ">99 %";
  return `${share > 0 && share < 0.95 ? share.toFixed(1) : Math.round(share)} %`;
}

/** What the manifest says about the games. */
export interface Limits {
  games?: string;
  source_names?: string;
  max_plies?: string;
  min_games?: string;
  whole_games?: string;
}

/** Says in a sentence which games a book has. */
export function contentText(
  { games, source_names, max_plies }: Limits,
  extents: readonly string[],
): string {
  const sources = source_names
    ? ` (${source_names.replaceAll("\n", ", ")})`
    : "";
  const part = max_plies
    ? `: the first ${Number(max_plies) / 2} moves of each`
    : "";
  return `${[plural(Number(games ?? 0), "game") + sources, ...extents].join(", ")}${part}.`;
}

/** Says that a position is not in the book, and which positions the book has. */
export function absentText({ max_plies, min_games }: Limits): string {
  const least = Number(min_games ?? 1);
  const limits = [
    max_plies ? `the first ${max_plies} half-moves of each game` : "",
    least > 1 ? `only positions that at least ${least} games reached` : "",
  ];
  const limited = limits.filter(Boolean).join(" and ");
  return `This position is not in the book${limited ? `, which has ${limited}` : ""}.`;
}

/** Returns a bar of the results. Parts that are wide enough show their share. `source` names the games for screen readers, if there are several bars. */
export function resultsBar(results: Results, source = ""): HTMLElement {
  const count = games(results);
  const parts = (["white", "draws", "black"] as const).map((kind) => {
    const share = (100 * results[kind]) / count;
    const part = make(
      "span",
      kind,
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
