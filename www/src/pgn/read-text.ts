/** Reads a pasted text: recognizes a FEN or a PGN and reads it. Errors name the problem. */
import { InputError } from "../text/input-error";
import { looksLikeFen, positionOf } from "../game/fen";
import { Game } from "../game/game";
import { players } from "../game/player-names";
import { type Checked, checkGame, readGame } from "./read-game";
import { type PgnText, split } from "./split";

/** A game that was not opened. */
export interface Refused {
  /** Number of the game in the text, from 1. */
  index: number;
  /** The players; empty if they are unknown. */
  name: string;
  reason: string;
  /** Line of the text, from 1. */
  line?: number;
}

/** The games of a text, the games that were not opened, and a remark if something was left out. */
export interface Opened {
  games: Game[];
  refused: Refused[];
  remark?: string;
}

/** The games of a large text. They are checked, and read when they are opened. */
export interface Survey {
  games: (PgnText & Checked)[];
  refused: Refused[];
  remark?: string;
}

/** Maximum length of a text: about ten thousand games. */
const MAX_LENGTH = 16_000_000;
/** Maximum number of games per text, equal to the number of stored games. */
const MAX_GAMES = 5_000;
const NEITHER =
  "Neither a FEN nor a PGN: a FEN has eight ranks joined by slashes, a PGN has moves such as 1. e4 e5.";
/** A header, a target square, or castling. A text without these signs contains no game. */
const SIGN_OF_PGN = /^\s*\[\w+\s+"|[a-h][1-8]|[O0o]-[O0o]/m;
/** Milliseconds of work between two pauses. */
const SLICE = 10;

/** Reads a FEN or a PGN with one or more games. Throws an `InputError` if nothing can be opened. */
export function read(text: string): Opened {
  const trimmed = cleaned(text);
  if (looksLikeFen(trimmed)) return { games: [readFen(trimmed)], refused: [] };
  const tally = new Tally<Game>();
  for (const source of split(trimmed)) {
    tally.take(source, () => {
      const { game, cuts } = readGame(source);
      return { value: game, cuts: cuts.length };
    });
  }
  return tally.result();
}

/** Checks the games of a PGN, with pauses that keep the page responsive. Throws an `InputError` if nothing can be opened, or the signal's reason. */
export async function survey(
  text: string,
  signal: AbortSignal,
  progress: (games: readonly (PgnText & Checked)[], share: number) => void,
): Promise<Survey> {
  const trimmed = cleaned(text);
  const tally = new Tally<PgnText & Checked>();
  let [pause, done] = [performance.now() + SLICE, 0];
  for (const source of split(trimmed)) {
    tally.take(source, () => {
      const checked = checkGame(source);
      return { value: { ...source, ...checked }, cuts: checked.cuts };
    });
    done += source.text.length;
    if (performance.now() < pause) continue;
    progress(tally.games, done / trimmed.length);
    await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
    pause = performance.now() + SLICE;
  }
  return tally.result();
}

/** Returns a game without moves that starts at the FEN. Throws an `InputError`. */
export function readFen(text: string): Game {
  return new Game(positionOf(text.trim()));
}

/** Decodes a file: UTF-8 or UTF-16 by the byte order mark, else UTF-8, else Latin-1, the encoding of old PGN files. */
export function decode(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe)
    return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff)
    return new TextDecoder("utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** Collects the games that can be opened, each once, and the other games. */
class Tally<T extends { id?: string }> {
  readonly games: T[] = [];
  /** Numbers of the games in the text, by id. */
  readonly #numbers = new Map<string, number>();
  readonly #refused: Refused[] = [];
  #total = 0;
  #cuts = 0;

  take(source: PgnText, open: () => { value: T; cuts: number }): void {
    this.#total++;
    if (this.games.length + this.#refused.length >= MAX_GAMES) return;
    try {
      const { value, cuts } = open();
      const same =
        value.id === undefined ? undefined : this.#numbers.get(value.id);
      if (same !== undefined)
        throw new InputError(
          `It is the same game as game ${same}.`,
          source.line,
        );
      if (value.id !== undefined) this.#numbers.set(value.id, source.index);
      this.games.push(value);
      this.#cuts += cuts;
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      const { message, line } = error;
      this.#refused.push({
        index: source.index,
        name: players(source.headers),
        reason: message,
        ...(line === undefined ? {} : { line }),
      });
    }
  }

  result(): { games: T[]; refused: Refused[]; remark?: string } {
    const [first] = this.#refused;
    if (this.games.length === 0) {
      if (!first) throw new InputError(NEITHER);
      throw new InputError(
        this.#refused.length > 1
          ? `None of the ${this.#refused.length} games can be opened. The first game: ${first.reason}`
          : first.reason,
        first.line,
      );
    }
    const remarks = [];
    if (this.#cuts > 0)
      remarks.push(
        this.#cuts === 1
          ? "One variation was cut at an illegal move."
          : `${this.#cuts} variations were cut at illegal moves.`,
      );
    if (this.#total > MAX_GAMES)
      remarks.push(
        `Only the first ${MAX_GAMES.toLocaleString("en")} of ${this.#total.toLocaleString("en")} games were opened.`,
      );
    return {
      games: this.games,
      refused: this.#refused,
      ...(remarks.length > 0 ? { remark: remarks.join(" ") } : {}),
    };
  }
}

function cleaned(text: string): string {
  if (text.length > MAX_LENGTH)
    throw new InputError(
      `This text is too long: at most ${MAX_LENGTH / 1_000_000} million characters can be read at once.`,
    );
  const trimmed = text.replace(/^\uFEFF/, "").trimEnd();
  if (trimmed.trim() === "")
    throw new InputError("Nothing to open: paste a FEN or a PGN.");
  if (looksLikeFen(trimmed.trim())) return trimmed.trim();
  if (!SIGN_OF_PGN.test(trimmed)) throw new InputError(NEITHER);
  // Files of old Macs end their lines with carriage returns.
  return trimmed.includes("\n") ? trimmed : trimmed.replaceAll("\r", "\n");
}
