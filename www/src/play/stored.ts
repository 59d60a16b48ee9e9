/** The game that is being played, kept in this browser: a page that is loaded again goes on with it. */
import { Match } from "./match";
import type { Left } from "./clock";
import { CONTROLS, LEVELS, type Terms } from "./terms";

const KEY = "play";
/** Longer games than any that was played. */
const MOST_MOVES = 1_200;

/** Keeps a game, or its terms alone once it is over. */
export function store(match: Match, now: number): void {
  const { clock, outcome } = match;
  const left = clock && { white: clock.left("white", now), black: clock.left("black", now) };
  const kept = { terms: match.terms, ...(outcome ? {} : { moves: match.moves, left }) };
  try {
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // Storage may be forbidden: the game then lasts as long as the page.
  }
}

/** The terms of the last game, and the game itself if it is not over. */
export function restore(date: string): { terms?: Terms; match?: Match } {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}") as { terms?: Partial<Terms>; moves?: unknown; left?: Partial<Left> };
    const terms = checked(kept.terms);
    if (!terms) return {};
    if (!Array.isArray(kept.moves) || kept.moves.length === 0 || kept.moves.length > MOST_MOVES) return { terms };
    const match = new Match(terms, date, { moves: kept.moves.map(String), left: time(kept.left) });
    return match.outcome ? { terms } : { terms, match };
  } catch {
    // Storage is forbidden, or something else wrote there.
    return {};
  }
}

/** Terms of what is on offer, or none. */
function checked(terms: Partial<Terms> | undefined): Terms | undefined {
  if (!terms || (terms.side !== "white" && terms.side !== "black")) return undefined;
  const { control } = terms;
  return {
    side: terms.side,
    elo: LEVELS.find(([elo]) => elo === terms.elo)?.[0],
    control: CONTROLS.find((each) => each?.minutes === control?.minutes && each?.increment === control?.increment),
    ...(typeof terms.fen === "string" ? { fen: terms.fen } : {}),
    ...(typeof terms.book === "boolean" ? { book: terms.book } : {}),
  };
}

function time(left: Partial<Left> | undefined): Left | undefined {
  const { white, black } = left ?? {};
  return typeof white === "number" && typeof black === "number" && white > 0 && black > 0 ? { white, black } : undefined;
}
