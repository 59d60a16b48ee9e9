/** Finds the legal moves for the words of a game, with the piece letters of one language. */
import type { Position } from "chessops/chess";
import type { NormalMove } from "chessops/types";
import { clip, type InputError } from "../text/input-error";
import {
  ENGLISH,
  FOREIGN,
  isNull,
  type Letters,
  moveOf,
  piecesOf,
} from "./letters";
import type { PgnText } from "./split";
import { errorAt, type MoveToken } from "./movetext";

/** A word that is not a legal move. */
export interface Cut {
  readonly at: MoveToken;
  /** "2. Sf3 is not a legal move" */
  readonly reason: string;
}

/** The move of each word, except the words of cut variations. */
export interface ResolvedMoves {
  readonly letters: Letters;
  readonly moves: ReadonlyMap<MoveToken, NormalMove>;
  /** Variations that end early. */
  readonly cuts: readonly Cut[];
}

interface Attempt extends ResolvedMoves {
  /** Why the main line cannot be read, and the number of its moves that can. */
  readonly error?: Cut;
  readonly reached: number;
}

/**
 * Reads a game with English letters. If that fails, tries other languages, in which every move must be legal. Throws an `InputError` that names the
 * first illegal move.
 */
export function resolveMoves(
  source: PgnText,
  root: MoveToken,
  start: Position,
): ResolvedMoves {
  const english = attempt(root, start, ENGLISH);
  if (!english.error && english.cuts.length === 0) return english;
  const letters = foreignLetters(root);
  // If all letters are English, other languages are not tried.
  const others =
    letters.length === 0
      ? []
      : FOREIGN.map((language) => attempt(root, start, language));
  const legal = [english, ...others].filter((each) => !each.error);
  const least = Math.min(...legal.map((each) => each.cuts.length));
  const best = legal.find((each) => each.cuts.length === least);
  if (best) return best;
  throw refusal(source, english, others, letters);
}

function refusal(
  source: PgnText,
  english: Attempt,
  others: Attempt[],
  letters: string[],
): InputError {
  const error = english.error as Cut;
  const farthest = others
    .filter((each) =>
      letters.every((letter) => each.letters.pieces.includes(letter)),
    )
    .sort((a, b) => b.reached - a.reached)[0];
  if (!farthest || farthest.reached <= english.reached) {
    const hint = farthest
      ? `; the letters look ${farthest.letters.language}, and it is not legal in that language either`
      : "";
    return errorAt(source, error.at.at, error.reason + hint);
  }
  const { at, reason } = farthest.error as Cut;
  return errorAt(
    source,
    at.at,
    `${reason}; the letters look ${farthest.letters.language}, and the moves before it were read so`,
  );
}

/** Reads a game in one language. The main line and each variation end at their first illegal word. */
function attempt(root: MoveToken, start: Position, letters: Letters): Attempt {
  const moves = new Map<MoveToken, NormalMove>();
  const cuts: Cut[] = [];
  let error: Cut | undefined;
  let reached = 0;
  // A game with its own start position may have other move numbers.
  let offset = start.fullmoves === 1 && start.turn === "white" ? 0 : undefined;
  const open: { parent: Position; at: MoveToken; main: boolean }[] = root.next
    .map((at, index) => ({ parent: start, at, main: index === 0 }))
    .reverse();
  for (let task = open.pop(); task; task = open.pop()) {
    const { parent, at, main } = task;
    if (at.number && main) offset ??= at.number.value - parent.fullmoves;
    const reason = misnumbered(parent, at, offset ?? 0);
    const move = reason ? undefined : moveOf(parent, at.word, letters);
    if (!move) {
      const cut = { at, reason: reason ?? illegal(parent, at, offset ?? 0) };
      if (!main) cuts.push(cut);
      else {
        error = cut;
        break;
      }
      continue;
    }
    moves.set(at, move);
    if (main) reached++;
    if (at.next.length === 0) continue;
    const position = parent.clone();
    position.play(move);
    for (let index = at.next.length - 1; index >= 0; index--) {
      const next = at.next[index];
      if (next)
        open.push({ parent: position, at: next, main: main && index === 0 });
    }
  }
  return { letters, moves, cuts, reached, ...(error ? { error } : {}) };
}

const label = (position: Position, offset: number): string =>
  `${position.fullmoves + offset}${position.turn === "white" ? "." : "…"}`;

function illegal(
  position: Position,
  { word }: MoveToken,
  offset: number,
): string {
  const text = `${label(position, offset)} ${clip(word)}`;
  return isNull(word)
    ? `${text} is a null move, which is no move of chess`
    : `${text} is not a legal move`;
}

/** Checks a move number. A wrong number means that moves are missing or another game begins. */
function misnumbered(
  position: Position,
  { number, word }: MoveToken,
  offset: number,
): string | undefined {
  if (!number) return undefined;
  const value = position.fullmoves + offset;
  const black = position.turn === "black";
  // A move of Black after a comment is often written as "12. Nf6".
  if (number.value === value && (black || !number.black)) return undefined;
  return `${number.value}${number.black ? "…" : "."} ${clip(word)} stands where move ${label(position, offset)} should be`;
}

/** Returns the piece letters that English does not have, without duplicates. */
function foreignLetters(root: MoveToken): string[] {
  const found = new Set<string>();
  const open = [...root.next];
  for (let at = open.pop(); at; at = open.pop()) {
    for (const letter of piecesOf(at.word))
      if (!ENGLISH.pieces.includes(letter)) found.add(letter);
    open.push(...at.next);
  }
  return [...found];
}
