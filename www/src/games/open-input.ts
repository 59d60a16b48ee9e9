/** Opens the input of a person: a pasted text, an address or a file. Loaded when it is first needed. */
import { looksLikeFen, positionOf } from "../game/fen";
import { Game, type Node } from "../game/game";
import { siteAddress, studyPath } from "../link/sites";
import { readGame } from "../pgn/read-game";
import { decode, read, survey } from "../pgn/read-text";
import type { PgnText } from "../pgn/split";
import { type NamedPlayer, playerAddress, playerName } from "../players/player";
import { fetchGame, fetchStudy } from "../sites/lichess";
import type { PlayedGame } from "../sites/played-game";
import { MissingError } from "../sites/request";
import { InputError } from "../text/input-error";
import type { Library } from "./library";
import { openedText, type Page } from "./notice";

/** Maximum size of a file, in bytes. */
const MAX_FILE = 40_000_000;

/** Milliseconds between two reports of progress. */
const REPORT_INTERVAL = 200;

/** Receives the opened games. */
export interface Target {
  readonly library: Library;
  readonly page: Page;
  /** Shows a game on the board. */
  pick(game: Game, node?: Node): void;
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
  signal: AbortSignal,
): Promise<void> {
  const text = typeof input === "string" ? input : await contents(input);
  signal.throwIfAborted();
  if (text.length > MAX_ADDRESS) return openGames(target, text, signal);
  const player = playerAddress(text);
  const study = studyPath(text);
  if (player) return target.showPlayer(player);
  if (study) return openGames(target, await fetchStudy(study, signal), signal);
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
  else await openGames(target, text, signal);
}

/** Opens a game of a player, whose side is at the bottom. Throws an `InputError` if the game cannot be read. */
export function openPlayed(
  target: Target,
  { id, url, pgn }: PlayedGame,
  side: "white" | "black",
): void {
  const [game] = read(pgn).games;
  if (!game) throw new InputError("This game cannot be read.");
  game.site =
    id === url ? { name: "chess.com", url } : { name: "lichess", url, id };
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
  text: string,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let first: Game | undefined;
    let reported = performance.now();
    const show = (pgn: PgnText | undefined) => {
      if (first || !pgn || signal.aborted) return;
      first = target.library.same(readGame(pgn).game);
      target.pick(first);
      resolve();
    };
    const progress = (found: readonly PgnText[], share: number) => {
      show(found[0]);
      if (performance.now() - reported < REPORT_INTERVAL) return;
      reported = performance.now();
      target.page.notice(
        `Reading games: ${found.length.toLocaleString("en")} so far, ${Math.round(share * 100)} % of the text.`,
      );
    };
    const run = async () => {
      const { games, refused, remark } = await survey(text, signal, progress);
      show(games[0]);
      await target.library.keep(games);
      if (signal.aborted) return;
      const count =
        games.length > 1
          ? openedText(games.length, games.length + refused.length)
          : "";
      target.page.notice(
        [count, remark, target.library.remark].filter(Boolean).join(" "),
        refused,
      );
    };
    run().catch((error: unknown) => {
      if (first && !signal.aborted) reportError(error);
      reject(error);
    });
  });
}

async function contents(file: File): Promise<string> {
  if (file.size > MAX_FILE)
    throw new InputError(
      `This file is too large: at most ${MAX_FILE / 1_000_000} MB can be read.`,
    );
  try {
    return decode(new Uint8Array(await file.arrayBuffer()));
  } catch {
    throw new InputError("This file cannot be read.");
  }
}
