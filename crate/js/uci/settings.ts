// Options of UCI.

/** Values of the options. */
export interface Settings {
  /** Size of the transposition table, in MiB. */
  hash: number;
  /** Number of variations. */
  multiPv: number;
  /** Milliseconds that each move loses between clock and engine. */
  overhead: number;
  isChess960: boolean;
  /** Rating of the player; `undefined` for full strength. */
  elo: number | undefined;
  /** URL of the database, or empty. */
  database: string;
  /** URL of the endgame tables, or empty. */
  endgames: string;
}

/** An option: `[type, default, minimum, maximum]`. */
const OPTIONS = {
  Hash: ["spin", 16, 1, 256],
  Threads: ["spin", 1, 1, 64],
  MultiPV: ["spin", 1, 1, 256],
  "Move Overhead": ["spin", 20, 0, 5000],
  UCI_Elo: ["spin", 1500, 800, 3190],
  "Skill Level": ["spin", 20, 0, 20],
  "Clear Hash": ["button"],
  UCI_LimitStrength: ["check", false],
  UCI_Chess960: ["check", false],
  EvalDatabase: ["string", ""],
  SyzygyPath: ["string", ""],
} as const;

/** Maximum rating of the engine's weaker players. Higher ratings, which boards send to Stockfish, mean full strength. */
const STRONGEST = 2600;

/** Name of an option. */
export type OptionName = keyof typeof OPTIONS;

/**
 * Ratings of skill levels from 0 on: Stockfish converts them to these levels (<https://github.com/official-stockfish/Stockfish/pull/4341>). Higher
 * levels exceed the ratings of the engine's weaker players, and search at full strength.
 */
const SKILL_RATINGS = [1347, 1444, 1566, 1729, 1953, 2197, 2383, 2518];

/** Lists the options in answer to `uci`. */
export const describe = (): string[] =>
  Object.entries(OPTIONS).map(
    ([name, [type, value, min, max]]: [string, readonly unknown[]]) => {
      const range = type === "spin" ? ` min ${min} max ${max}` : "";
      return `option name ${name} type ${type}${type === "button" ? "" : ` default ${value === "" ? "<empty>" : value}`}${range}`;
    },
  );

/** The options of a session. */
export class Options {
  #values = new Map<OptionName, string | number | boolean>();

  /** Sets an option. Returns its name, or an error as text. */
  set(found: string, text: string): { name: OptionName } | { error: string } {
    const name = (Object.keys(OPTIONS) as OptionName[]).find(
      (name) => name.toLowerCase() === found.toLowerCase(),
    );
    if (!name)
      return {
        error: `there is no option "${found.slice(0, 40)}"; \`uci\` lists them`,
      };
    const [type, , min = 0, max = 0] = OPTIONS[name] as readonly [
      string,
      unknown?,
      number?,
      number?,
    ];
    const expected = (what: string) => ({
      error: `option ${name}: expected ${what}, found "${text.slice(0, 40)}"`,
    });
    if (type === "spin") {
      const number = /^-?\d+$/.test(text) ? Number(text) : NaN;
      if (!(number >= min && number <= max))
        return expected(`a number from ${min} to ${max}`);
      this.#values.set(name, number);
    } else if (type === "check") {
      const value = text.toLowerCase();
      if (value !== "true" && value !== "false")
        return expected("true or false");
      this.#values.set(name, value === "true");
    } else if (type === "string")
      this.#values.set(name, text === "<empty>" ? "" : text);
    return { name };
  }

  /** Returns the values. */
  get settings(): Settings {
    const value = <T>(name: OptionName) =>
      (this.#values.get(name) ?? OPTIONS[name][1]) as T;
    const rating = value<boolean>("UCI_LimitStrength")
      ? value<number>("UCI_Elo")
      : SKILL_RATINGS[value<number>("Skill Level")];
    return {
      hash: value("Hash"),
      multiPv: value("MultiPV"),
      overhead: value("Move Overhead"),
      isChess960: value("UCI_Chess960"),
      elo: rating !== undefined && rating <= STRONGEST ? rating : undefined,
      database: value("EvalDatabase"),
      endgames: value("SyzygyPath"),
    };
  }
}
