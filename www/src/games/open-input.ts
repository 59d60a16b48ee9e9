/** What a person opens: a pasted text, an address or a file, read and put on the board. Loaded when it is first needed. */
import { plural } from "../text/units";
import { InputError } from "../text/input-error";
import { looksLikeFen, positionOf } from "../game/fen";
import { Game } from "../game/game";
import { decode, survey } from "../pgn/read-text";
import { readGame } from "../pgn/read-game";
import type { Source } from "../pgn/split";
import { fetched, type Session } from "./session";
import { named } from "../link/sites";

/** Longest file that is read. */
const MAX_FILE = 40_000_000;

/** Opens it. Throws an `InputError` if nothing can be opened, and the signal's reason. */
export async function open(session: Session, input: string | File, signal: AbortSignal): Promise<void> {
  const text = typeof input === "string" ? input : await contents(input);
  signal.throwIfAborted();
  const address = text.length < 500 ? named(text) : undefined;
  if (address?.kind === "lichess") {
    const game = session.library.same(await fetched(address.id, signal));
    session.pick(game, game.mainline()[address.ply ?? 0]);
    if (address.side) session.page.turn(address.side);
    void session.keep(game);
  } else if (address || looksLikeFen(text.trim())) {
    session.pick(new Game(positionOf(address ? address.fen : text.trim())));
  } else await openGames(session, text, signal);
}

/** Done when the first game is on the board; the others are checked and kept meanwhile. */
async function openGames(session: Session, text: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let first: Game | undefined;
    let told = performance.now();
    const show = (source: Source | undefined) => {
      if (first || !source || signal.aborted) return;
      first = session.library.same(readGame(source).game);
      session.pick(first);
      resolve();
    };
    const progress = (found: readonly Source[], share: number) => {
      show(found[0]);
      if (performance.now() - told < 200) return;
      told = performance.now();
      session.page.notice(`Reading games: ${found.length.toLocaleString("en")} so far, ${Math.round(share * 100)} % of the text.`);
    };
    const run = async () => {
      const { games, refused, remark } = await survey(text, signal, progress);
      show(games[0]);
      await session.library.keep(games);
      if (signal.aborted) return;
      const count = games.length > 1 ? `${plural(games.length, "game")} opened: the menu has them.` : "";
      session.page.notice([count, remark, session.library.remark].filter(Boolean).join(" "), refused);
    };
    run().catch((error: unknown) => {
      if (first && !signal.aborted) reportError(error);
      reject(error);
    });
  });
}

async function contents(file: File): Promise<string> {
  if (file.size > MAX_FILE) throw new InputError(`This file is too large: at most ${MAX_FILE / 1_000_000} MB can be read.`);
  try {
    return decode(new Uint8Array(await file.arrayBuffer()));
  } catch {
    throw new InputError("This file cannot be read.");
  }
}
