/** Opens the input of a person: a pasted text, an address or a file. Loaded when it is first needed. */
import { looksLikeFen, positionOf } from "../game/fen";
import { Game, type Node } from "../game/game";
import { siteAddress, studyPath } from "../link/sites";
import { read, survey } from "../game/read-pgn";
import { type NamedPlayer, playerAddress, playerName } from "../players/player";
import { fetchGame, fetchStudy } from "../sites/lichess";
import { MissingError, type PlayedGame } from "../sites/request";
import { InputError } from "../text/words";
import { nextTask } from "../loading/loading";
import { ofText, type Stored } from "./game-store";
import type { Library } from "./library";
import { openedText, type Page } from "./notice";

/** Maximum size of a file, in bytes. */
const MAX_FILE = 40_000_000;

/** Minimum length of a file whose games are shown as a table, and the maximum number of its games. */
const TABLE = { length: 1_000_000, games: 100_000 };

/** What separates two games of a table: an empty line before a tag. */
const GAP = /\r?\n\r?\n(?=\[\w+ ")/g;

/** Milliseconds of work between two pauses, and between two reports of progress. */
const [SLICE, REPORT_INTERVAL] = [10, 200];

/** Receives the opened games. */
export interface Target {
  readonly library: Library;
  readonly page: Page;
  /** Shows a game on the board. */
  pick(game: Game, node?: Node): void;
  /** Shows the table of games. */
  list(): Promise<void>;
  /** Adds a game to the list of opened games. */
  keep(game: Game): Promise<void>;
  showPlayer(player: NamedPlayer): Promise<void>;
}

/** Maximum length of an address. */
const MAX_ADDRESS = 500;

/** Opens the input. Throws an `InputError` if nothing can be opened, and the signal's reason. */
export async function openInput(
  target: Target,
  input: string | File,
  correct: (error: InputError) => void,
  signal: AbortSignal,
): Promise<void> {
  const openAll = (file: string | Uint8Array) => {
    const text = file.length > TABLE.length ? decoded(file) : "";
    return text.search(GAP) >= 0
      ? openTable(target, text, signal)
      : openGames(target, file, correct, signal);
  };
  const file = typeof input === "string" ? input : await contents(input);
  signal.throwIfAborted();
  if (file.length > MAX_ADDRESS) return openAll(file);
  const text = typeof file === "string" ? file : new TextDecoder().decode(file);
  const player = playerAddress(text);
  const study = studyPath(text);
  if (player) return target.showPlayer(player);
  if (study) return openAll(await fetchStudy(study, signal));
  const name = playerName(text);
  const address = siteAddress(text);
  if (address?.kind === "lichess") {
    try {
      const game = target.library.same(await fetchGame(address.id, signal));
      show(target, game, address.side, game.mainline()[address.ply ?? 0]);
    } catch (error) {
      // A user name can look like the id of a game.
      if (!(error instanceof MissingError && name)) throw error;
      await target.showPlayer(name);
    }
  } else if (address || looksLikeFen(text.trim()))
    target.pick(new Game(positionOf(address ? address.fen : text.trim())));
  else if (name) await target.showPlayer(name);
  else await openAll(file);
}

/** Opens a game of a player, whose side is at the bottom. Throws an `InputError` if the game cannot be read. */
export async function openPlayed(
  target: Target,
  { id, url, pgn }: PlayedGame,
  side: "white" | "black",
): Promise<void> {
  const [game] = (await read(pgn)).games;
  if (!game) throw new InputError("This game cannot be read.");
  if (id !== url) game.lichess = id;
  show(target, target.library.same(game), side);
}

/** Shows a fetched game and adds it to the list. */
function show(
  target: Target,
  game: Game,
  side?: "white" | "black",
  node?: Node,
): void {
  target.pick(game, node);
  if (side) target.page.turn(side);
  void target.keep(game);
}

/** Resolves when the first game is on the board. All games are then checked and stored. */
async function openGames(
  target: Target,
  file: string | Uint8Array,
  correct: (error: InputError) => void,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let first: Game | undefined;
    const show = (game: Game) => {
      if (signal.aborted) return;
      first = target.library.same(game);
      target.pick(first);
      resolve();
    };
    const run = async () => {
      const { games, refused, remark, error } = await survey(
        file,
        signal,
        show,
      );
      await target.library.keep(games);
      if (signal.aborted) return;
      const count =
        games.length > 1
          ? openedText(games.length, games.length + refused.length)
          : "";
      target.page.notice(
        [count, remark, target.library.remark].filter(Boolean).join(" "),
        refused,
        error && {
          label: "Correct the text",
          does: () => correct(error),
        },
      );
    };
    run().catch((error: unknown) => {
      if (first && !signal.aborted) reportError(error);
      reject(error);
    });
  });
}

/** Shows the first game of a large file, and all its games as a table. A game is read when it is opened. */
async function openTable(
  target: Target,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  const { library } = target;
  // The table goes on while its games are opened.
  const reading = library.beginFile();
  const first = await read(text.slice(0, text.search(GAP))).then(
    ({ games }) => games[0],
    // Another game may be readable.
    () => undefined,
  );
  if (signal.aborted) return;
  if (first) show(target, library.same(first));
  await target.list();
  let [from, pause, due] = [0, performance.now() + SLICE, 0];
  let games: Stored[] = [];
  for (let count = 1; from < text.length && count <= TABLE.games; count++) {
    GAP.lastIndex = from;
    const to = GAP.exec(text)?.index ?? text.length;
    const id = (count === 1 && first?.id) || `${count}`;
    games.push(ofHeaders(text.slice(from, to).trim(), id));
    from = Math.max(to, GAP.lastIndex);
    if (performance.now() < pause) continue;
    if (performance.now() > due) {
      const share = Math.round((100 * from) / text.length);
      library.hold(games, `Reading the file: ${share} %.`);
      [games, due] = [[], performance.now() + REPORT_INTERVAL];
    }
    await nextTask();
    if (reading.aborted) return;
    pause = performance.now() + SLICE;
  }
  const remark =
    from < text.length
      ? `These are the first ${TABLE.games.toLocaleString("en")} games of the file. `
      : "";
  library.hold(games, `${remark}A game is stored when you open it.`);
}

/** Returns the entry of a game by its headers. */
function ofHeaders(text: string, id: string): Stored {
  const [head = ""] = text.split(/\r?\n\r?\n/, 1);
  const headers = new Map(
    [...head.matchAll(/^\[(\w+)\s+"(.*)"\]/gm)].map(
      ([, name = "", value = ""]) => [name, value.replace(/^[?.*]+$/, "")],
    ),
  );
  return ofText({ headers, result: null, id, plies: 0, text }, 0);
}

/** Decodes a file in UTF-8, UTF-16 or Windows-1252. */
function decoded(file: string | Uint8Array): string {
  if (typeof file === "string") return file;
  const marks: Record<number, string> = {
    0xfffe: "utf-16le",
    0xfeff: "utf-16be",
  };
  const encoding = marks[(file[0] ?? 0) * 256 + (file[1] ?? 0)] ?? "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(file);
  } catch {
    return new TextDecoder("windows-1252").decode(file);
  }
}

async function contents(file: File): Promise<Uint8Array> {
  if (file.size > MAX_FILE)
    throw new InputError(
      `This file is too large: at most ${MAX_FILE / 1_000_000} MB can be read.`,
    );
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch {
    throw new InputError("This file cannot be read.");
  }
}
