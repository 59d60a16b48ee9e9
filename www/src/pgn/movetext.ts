/** Parses the movetext of a game into a tree of words. A character that PGN does not allow is an error. */
import { MAX_MOVES } from "../game/game";
import { clip, InputError } from "../text/input-error";
import { capitalised } from "../text/units";
import type { PgnText } from "./split";

/** A move as it is written, with its annotations. */
export interface MoveToken {
  readonly word: string;
  /** Offset in the game's text. */
  readonly at: number;
  /** The move number before the move: "12." is 12 for White, "12…" is 12 for Black. */
  readonly number?: { readonly value: number; readonly black: boolean };
  readonly nags: number[];
  readonly before: string[];
  readonly after: string[];
  /** The next moves; the first is the continuation, the others are variations. */
  readonly next: MoveToken[];
}

/** The moves of a game; `word` of the root is empty. */
export interface Movetext {
  readonly root: MoveToken;
  /** "1-0", "0-1", "1/2-1/2" or "*", if the text has a result. */
  readonly result?: string;
}

const MAX_DEPTH = 50;

const SPACE = /(?:\s|(?<=\n)%[^\n]*)+/y;
const RESULT =
  /(?:(1[-–—]0)|(0[-–—]1)|(1\/2(?:[-–—]1\/2)?|½(?:[-–—]½)?)|\*)(?=[\s(){};$]|$)/y;
const NUMBER = /(\d{1,5})\s*(\.[\s.…]*|…[.…]*)|(\d{1,3})(?=[\s(){};]|$)/y;
const DOTS = /[.…]+/y;
const GLYPH = /\$(\d{1,4})|[!?]{1,2}/y;
// A promotion may be in brackets, as in e8(Q).
const WORD = /[^\s(){};$!?]+(?:\([A-Z♔-♟]\)[+#]*)?/uy;

const MARKS: Readonly<Record<string, number>> = {
  "!": 1,
  "?": 2,
  "!!": 3,
  "??": 4,
  "!?": 5,
  "?!": 6,
};
/** Printed symbols of evaluations and their NAGs. */
const SIGNS: Readonly<Record<string, number>> = {
  "□": 7, "=": 10, "∞": 13, "⩲": 14, "+=": 14, "+/=": 14, "⩱": 15, "=+": 15, "=/+": 15, "±": 16, "+/-": 16, "+/−": 16, "∓": 17, "-/+": 17, "−/+": 17,
  "+-": 18, "+−": 18, "+–": 18, "-+": 19, "−+": 19, "–+": 19, "⨀": 22, "⟳": 32, "→": 36, "↑": 36, "⇆": 132, "⊕": 138, "N": 146,
}; // prettier-ignore
/** Words after a move that add no information. */
const SILENT = /^(?:e\.?p\.?|ch|mate|[+#]{1,2}|dis\.?ch)$/i;

/** Parses the moves of a game. Throws an `InputError` with the line and the column. */
export function movetext(source: PgnText): Movetext {
  const { text } = source;
  const root = moveToken("", source.moves, undefined, []);
  /** The open variations, each with its last move and the parent of that move, from which alternatives branch. */
  const stack: {
    last: MoveToken;
    parent?: MoveToken;
    opened: number;
    before: string[];
  }[] = [{ last: root, opened: source.moves, before: [] }];
  let number: MoveToken["number"];
  let result: string | undefined;
  let count = 0;
  let at = source.moves;
  const taken = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match ?? undefined;
  };
  for (;;) {
    taken(SPACE);
    const frame = stack.at(-1);
    const character = text.charAt(at);
    if (character === "" || !frame) break;
    const start = at;
    if (character === "{" || character === ";") {
      const end = text.indexOf(character === "{" ? "}" : "\n", at);
      if (end === -1 && character === "{")
        throw errorAt(
          source,
          start,
          "a comment begins here and has no end: } is missing",
        );
      const comment = text
        .slice(at + 1, end === -1 ? text.length : end)
        .replace(/\s+/g, " ")
        .trim();
      at = end === -1 ? text.length : end + 1;
      if (comment)
        (frame.last === frame.parent ? frame.before : frame.last.after).push(
          comment,
        );
    } else if (character === "(") {
      at++;
      if (!frame.parent || frame.last === frame.parent)
        throw errorAt(
          source,
          start,
          "a variation begins here before there is a move that it could replace",
        );
      if (stack.length > MAX_DEPTH)
        throw errorAt(
          source,
          start,
          `variations are nested more than ${MAX_DEPTH} deep`,
        );
      stack.push({
        last: frame.parent,
        parent: frame.parent,
        opened: start,
        before: [],
      });
      number = undefined;
    } else if (character === ")") {
      at++;
      if (stack.length === 1)
        throw errorAt(source, start, "a variation ends here that never began");
      stack.pop();
      number = undefined;
    } else if (character === "$" || character === "!" || character === "?") {
      const [sign = "", value] = taken(GLYPH) ?? [];
      if (sign === "")
        throw errorAt(
          source,
          start,
          `“${clip(text.slice(start, start + 8))}” is no glyph`,
        );
      if (frame.last !== root && frame.last !== frame.parent)
        frame.last.nags.push(value ? Number(value) : (MARKS[sign] ?? 0));
    } else {
      const ended = taken(RESULT);
      if (ended) {
        if (stack.length === 1)
          result ??= ended[1]
            ? "1-0"
            : ended[2]
              ? "0-1"
              : ended[3]
                ? "1/2-1/2"
                : "*";
        continue;
      }
      const numbered = taken(NUMBER);
      if (numbered) {
        const dots = (numbered[2] ?? "")
          .replace(/\s/g, "")
          .replaceAll("…", "...");
        number = {
          value: Number(numbered[1] ?? numbered[3]),
          black: dots.length > 1,
        };
        continue;
      }
      if (taken(DOTS)) {
        if (number) number = { ...number, black: true };
        continue;
      }
      const word = taken(WORD)?.[0] ?? text.slice(at, ++at);
      const sign = SIGNS[word];
      if (
        frame.last !== frame.parent &&
        frame.last !== root &&
        (sign !== undefined || SILENT.test(word))
      ) {
        if (sign !== undefined) frame.last.nags.push(sign);
        continue;
      }
      if (result !== undefined && stack.length === 1)
        throw errorAt(
          source,
          start,
          `“${clip(word)}” stands after the result ${result}`,
        );
      if (++count > MAX_MOVES)
        throw errorAt(
          source,
          start,
          `a game has at most ${MAX_MOVES} moves here`,
        );
      const move = moveToken(word, start, number, frame.before);
      frame.last.next.push(move);
      frame.parent = frame.last;
      frame.last = move;
      frame.before = [];
      number = undefined;
    }
  }
  const open = stack[1];
  if (open)
    throw errorAt(
      source,
      open.opened,
      "a variation begins here and has no end: ) is missing",
    );
  return { root, ...(result ? { result } : {}) };
}

/** Returns an error with the position in the whole text: "… (line 3, column 7)." */
export function errorAt(
  source: PgnText,
  at: number,
  reason: string,
): InputError {
  const before = source.text.slice(0, at);
  const line = source.line + (before.match(/\n/g)?.length ?? 0);
  const message = `${reason} (line ${line}, column ${at - before.lastIndexOf("\n")}).`;
  return new InputError(capitalised(message), line);
}

const moveToken = (
  word: string,
  at: number,
  number: MoveToken["number"],
  before: string[],
): MoveToken => ({
  word,
  at,
  ...(number ? { number } : {}),
  nags: [],
  before,
  after: [],
  next: [],
});
