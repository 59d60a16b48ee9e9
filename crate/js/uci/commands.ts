// Commands of UCI. The parser ignores unknown words, as the protocol requires.

/** A command of a page. */
export type Command =
  | { name: "uci" | "isready" | "ucinewgame" | "stop" | "quit" }
  | { name: "setoption"; option: string; value: string }
  | Position
  | Go;

/** `position`. Without a FEN, the moves begin at the initial position. */
export interface Position {
  name: "position";
  fen: string | undefined;
  moves: string[];
}

/** Numbers of `go`, which limit a search. Times are milliseconds. */
const NUMBERS = [
  "depth",
  "nodes",
  "movetime",
  "mate",
  "wtime",
  "btime",
  "winc",
  "binc",
  "movestogo",
] as const;
/** Words of `go` that are no values. */
const WORDS = [...NUMBERS, "searchmoves", "ponder", "infinite"] as const;
/** `go`. A limit without a readable number is 0, and never no limit; `errors` name it. */
export type Go = { name: "go"; searchmoves: string[]; errors: string[] } & {
  [Name in (typeof NUMBERS)[number]]?: number;
} & { infinite?: boolean };

const isIn = <Word extends string>(
  words: readonly Word[],
  word: string,
): word is Word => (words as readonly string[]).includes(word);

/** Parses a line. Returns `undefined` if the line contains no command. */
export function parse(line: string): Command | undefined {
  const words = line.split(/\s+/).filter((word) => word);
  for (const [index, name] of words.entries()) {
    const rest = words.slice(index + 1);
    if (isIn(["uci", "isready", "ucinewgame", "stop", "quit"], name))
      return { name };
    if (name === "setoption") return option(rest);
    if (name === "position") return position(rest);
    if (name === "go") return go(rest);
  }
  return undefined;
}

function option(words: string[]): Command {
  const start = words[0] === "name" ? 1 : 0;
  // A value can contain `value` again.
  const end = words.indexOf("value");
  const value = end < 0 ? "" : words.slice(end + 1).join(" ");
  return {
    name: "setoption",
    option: words.slice(start, end < 0 ? undefined : end).join(" "),
    value,
  };
}

function position([kind, ...words]: string[]): Position | undefined {
  const at = words.indexOf("moves");
  const end = at < 0 ? words.length : at;
  const moves = words.slice(end + 1);
  if (kind === "startpos") return { name: "position", fen: undefined, moves };
  return kind === "fen"
    ? { name: "position", fen: words.slice(0, end).join(" "), moves }
    : undefined;
}

function go(words: string[]): Go {
  const command: Go = { name: "go", searchmoves: [], errors: [] };
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    if (word === "infinite") command.infinite = true;
    else if (isIn(NUMBERS, word)) {
      // Some boards send fractions, and an expired clock as a negative number.
      const next = words[index + 1] ?? "";
      const value = isIn(WORDS, next) ? "" : next;
      if (value) index++;
      const number = Number(value || NaN);
      if (Number.isNaN(number))
        command.errors.push(
          `go ${word}: expected a number, found "${value}"; 0 is used`,
        );
      const most = word === "nodes" ? 2 ** 53 - 1 : 2 ** 31 - 1;
      command[word] = Math.trunc(Math.min(Math.max(number || 0, 0), most));
    } else if (word === "searchmoves") {
      while (/^[a-h][1-8][a-h][1-8][qrbn]?$/.test(words[index + 1] ?? ""))
        command.searchmoves.push(words[++index]!);
    }
  }
  // Without a limit, a search ends with `stop`.
  if (NUMBERS.every((name) => command[name] === undefined))
    command.infinite = true;
  return command;
}
