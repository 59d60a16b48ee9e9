/** Opens the input of a person: a pasted text, an address or a file. Loaded when it is first needed. */
import { looksLikeFen, positionOf } from "../game/fen";
import { Game, type Node } from "../game/game";
import { siteAddress, studyPath } from "../link/sites";
import { read, survey } from "../game/read-pgn";
import { type NamedPlayer, playerAddress, playerName } from "../players/player";
import { fetchGame, fetchStudy } from "../sites/lichess";
import { MissingError, type PlayedGame } from "../sites/request";
import { InputError } from "../text/words";
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
  correct: (error: InputError) => void,
  signal: AbortSignal,
): Promise<void> {
  const openAll = (file: string | Uint8Array) =>
    openGames(target, file, correct, signal);
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
    let reported = performance.now();
    const show = (game: Game) => {
      if (signal.aborted) return;
      first = target.library.same(game);
      target.pick(first);
      resolve();
    };
    const progress = (count: number, share: number) => {
      if (performance.now() - reported < REPORT_INTERVAL) return;
      reported = performance.now();
      target.page.notice(
        `Reading games: ${count.toLocaleString("en")} so far, ${Math.round(share * 100)} % of the text.`,
      );
    };
    const run = async () => {
      const { games, refused, remark, error } = await survey(
        file,
        signal,
        show,
        progress,
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
