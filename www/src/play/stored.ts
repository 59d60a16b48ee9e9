/** Stores the current game in this browser, so that it continues after a reload. */
import { Match } from "./match";
import type { Left } from "./clock";
import { readObject, writeString } from "../storage/local-storage";
import { LEVELS, ownControl, type Terms } from "./terms";

const KEY = "play";
/** Maximum number of plies, more than in any game. */
const MOST_MOVES = 1_200;

/** Stores the game, or only its terms after its end. */
export function store(match: Match, now: number): void {
  const { clock, outcome, drawOffer } = match;
  const left = clock && {
    white: clock.left("white", now),
    black: clock.left("black", now),
  };
  const kept = {
    terms: match.terms,
    ...(outcome ? {} : { moves: match.moves, left, drawOffer }),
  };
  // If storage is forbidden, the game ends with the page.
  writeString(KEY, JSON.stringify(kept));
}

/** Returns the terms of the last game, and the game if it is not over. */
export function restore(date: string): { terms?: Terms; match?: Match } {
  try {
    const kept = readObject(KEY) as {
      terms?: Partial<Terms>;
      moves?: unknown;
      left?: Partial<Left>;
      drawOffer?: unknown;
    };
    const terms = checked(kept.terms);
    if (!terms) return {};
    if (
      !Array.isArray(kept.moves) ||
      kept.moves.length === 0 ||
      kept.moves.length > MOST_MOVES
    )
      return { terms };
    const drawOffer =
      typeof kept.drawOffer === "number" ? kept.drawOffer : undefined;
    const match = new Match(terms, date, {
      moves: kept.moves.map(String),
      left: time(kept.left),
      drawOffer,
    });
    return match.outcome ? { terms } : { terms, match };
  } catch {
    // The stored game is invalid.
    return {};
  }
}

/** Returns valid terms or nothing. */
function checked(terms: Partial<Terms> | undefined): Terms | undefined {
  if (!terms || (terms.side !== "white" && terms.side !== "black"))
    return undefined;
  const { control } = terms;
  return {
    side: terms.side,
    elo: LEVELS.find(([elo]) => elo === terms.elo)?.[0],
    control: ownControl(control?.minutes, control?.increment),
    ...(typeof terms.fen === "string" ? { fen: terms.fen } : {}),
    ...(typeof terms.book === "boolean" ? { book: terms.book } : {}),
  };
}

function time(left: Partial<Left> | undefined): Left | undefined {
  const { white, black } = left ?? {};
  return typeof white === "number" &&
    typeof black === "number" &&
    white > 0 &&
    black > 0
    ? { white, black }
    : undefined;
}
