/** Divides a PGN file into games without reading their moves. This is fast enough to list thousands of games at once. */
import { clip, InputError } from "../text/input-error";

export interface PgnText {
  /** Number of the game in the file, from 1. */
  readonly index: number;
  /** Headers and moves as they are in the file. */
  readonly text: string;
  /** Line of the file at which `text` begins, from 1. */
  readonly line: number;
  /** Headers with a value other than `?` and `*`. */
  readonly headers: ReadonlyMap<string, string>;
  /** Offset of the moves in `text`. */
  readonly moves: number;
  /** Error in a header that changes the start of the game. */
  readonly error?: InputError;
}

const TAG = /\s*\[\s*([A-Za-z0-9][\w+#=:-]*)\s+"((?:[^"\\]|\\.)*)"\s*\]/y;
/** A header with stray quotes in its value, alone on its line. */
const LOOSE_TAG = /^\s*\[\s*([A-Za-z0-9][\w+#=:-]*)\s+"(.*)"\s*\]\s*$/;
/** Headers that change the start of the game. */
const DECISIVE = /^\s*\[\s*(FEN|SetUp|Variant)\b/i;
const FIRST_MOVE = /^\s*1\s*\.(?!\s*\.)/;
const RESULT = /(?:1[-–—]0|0[-–—]1|1\/2(?:[-–—]1\/2)?|½(?:[-–—]½)?|\*)\s*$/;

/** Returns the games of a text in their order. A text without headers and moves has no games. */
export function* split(text: string): Generator<PgnText> {
  let index = 0;
  let game:
    | {
        start: number;
        line: number;
        headers: Map<string, string>;
        names: Set<string>;
        moves?: number;
        error?: InputError;
      }
    | undefined;
  const finish = (end: number): PgnText | undefined => {
    const done = game;
    game = undefined;
    if (!done || (done.moves === undefined && done.names.size === 0))
      return undefined;
    const { start, line, headers, moves, error } = done;
    return {
      index: ++index,
      text: text.slice(start, end),
      line,
      headers,
      moves: (moves ?? end) - start,
      ...(error ? { error } : {}),
    };
  };
  /** Whether the previous line ended in a comment, and its depth of brackets. */
  let comment = false;
  let depth = 0;
  let afterBlank = true;
  let afterResult = false;
  let number = 0;
  for (let at = 0, next = 0; at < text.length; at = next) {
    const newline = text.indexOf("\n", at);
    next = newline === -1 ? text.length : newline + 1;
    number++;
    const line = text.slice(at, next).trimEnd();
    if (line === "") {
      afterBlank = true;
      continue;
    }
    // A comment without an end must not include the games after it.
    if (comment && afterBlank && /^\[Event\s+"/.test(line)) comment = false;
    if (comment || line.startsWith("%")) {
      if (comment) ({ comment, depth } = nesting(line, comment, depth));
      afterBlank = false;
      continue;
    }
    let rest = at;
    const tags = isTag(line) ? [...tagsOf(line)] : [];
    const decisive = tags.length === 0 && DECISIVE.test(line);
    const begins =
      tags.length > 0 ||
      decisive ||
      (depth === 0 && (afterBlank || afterResult) && FIRST_MOVE.test(line));
    // A game without moves and without a result ends before the first header of the next game.
    const isNext =
      afterBlank &&
      tags.some(({ name }) => name === "Event" && game?.names.has(name));
    if (begins && (game?.moves !== undefined || isNext)) {
      const source = finish(at);
      if (source) yield source;
      depth = 0;
    }
    game ??= { start: at, line: number, headers: new Map(), names: new Set() };
    for (const { name, value, end } of tags) {
      game.names.add(name);
      if (value !== "" && !/^[?.*]+$/.test(value))
        game.headers.set(name, value);
      rest = at + end;
    }
    if (decisive) {
      game.error ??= new InputError(
        `Line ${number}: “${clip(line)}” should be a header such as [FEN "…"].`,
        number,
      );
      rest = at + line.length;
    }
    if (game.moves === undefined && line.startsWith("[") && tags.length === 0)
      rest = at + line.length;
    const moves = text.slice(rest, at + line.length);
    afterResult = RESULT.test(moves);
    if (moves.trim() !== "") {
      game.moves ??= rest;
      ({ comment, depth } = nesting(moves, comment, depth));
    }
    afterBlank = false;
  }
  const source = finish(text.length);
  if (source) yield source;
}

const isTag = (line: string): boolean =>
  /^\s*\[\s*[A-Za-z0-9][\w+#=:-]*\s+"/.test(line);

function* tagsOf(
  line: string,
): Generator<{ name: string; value: string; end: number }> {
  TAG.lastIndex = 0;
  let found = false;
  for (let end = 0, match = TAG.exec(line); match; match = TAG.exec(line)) {
    const [, name = "", value = ""] = match;
    end = TAG.lastIndex;
    found = true;
    yield { name, value: value.replace(/\\(["\\])/g, "$1").trim(), end };
    TAG.lastIndex = end;
  }
  const [, name, value] = (!found && LOOSE_TAG.exec(line)) || [];
  if (name !== undefined && value !== undefined)
    yield { name, value: value.trim(), end: line.length };
}

/** Updates the comment state and the depth of brackets after a line. */
function nesting(
  line: string,
  comment: boolean,
  depth: number,
): { comment: boolean; depth: number } {
  for (const [mark] of line.matchAll(/[{}();]/g)) {
    if (comment) comment = mark !== "}";
    else if (mark === "{") comment = true;
    else if (mark === ";") break;
    else if (mark === "(") depth++;
    else if (mark === ")") depth = Math.max(0, depth - 1);
  }
  return { comment, depth };
}
