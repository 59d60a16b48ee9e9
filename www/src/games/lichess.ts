/** Fetches games from Lichess's export API, which needs no login (https://lichess.org/api#tag/Games/operation/gamePgn). */
import { InputError } from "../text/input-error";
import type { Game } from "../game/game";
import { read } from "../pgn/read-text";
import { lichessUrl } from "../shell/policy";
import { boundedText } from "../text/bounded-text";

/** Maximum size of an answer, much more than any game. */
const MAX_BYTES = 2_000_000;
const TIMEOUT = 15_000;

/** The fields of the answer that are read. */
interface Exported {
  status?: unknown;
  pgn?: unknown;
}

/** Fetches a game by its id of eight letters. Throws an `InputError`, or the signal's reason if it is aborted. */
export async function fetchGame(id: string, signal: AbortSignal): Promise<Game> {
  const base = lichessUrl();
  const url = new URL(`game/export/${id}?pgnInJson=true&clocks=true&evals=true&opening=true&literate=false`, base);
  const answer = await ask(url, signal);
  const { status, pgn } = answer;
  if (status === "created" || status === "started")
    throw new InputError("This game is still being played: analysing it with an engine would be unfair. Open it after its end.");
  if (typeof status !== "string") throw new InputError("Lichess does not say whether this game is over, so it is not opened.");
  if (typeof pgn !== "string") throw new InputError("The answer of Lichess has no PGN.");
  const [game] = read(pgn).games;
  if (!game) throw new InputError("The answer of Lichess has no game.");
  game.site = { name: "lichess", url: new URL(id, base).href, id };
  return game;
}

async function ask(url: URL, signal: AbortSignal): Promise<Exported> {
  if (!navigator.onLine) throw new InputError("You are offline. Games of Lichess need a connection; a PGN opens without a connection.");
  const ours = new AbortController();
  const stop = () => ours.abort();
  signal.addEventListener("abort", stop, { once: true });
  const timer = setTimeout(stop, TIMEOUT);
  try {
    const response = await fetch(url, { headers: { accept: "application/json" }, signal: ours.signal, credentials: "omit", referrerPolicy: "no-referrer" });
    if (!response.ok) throw new InputError(refusal(response.status));
    const text = response.body ? await boundedText(response.body, MAX_BYTES) : "";
    if (text === undefined) throw new InputError("The answer of Lichess is too long for a game.");
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== "object" || parsed === null) throw new SyntaxError();
    return parsed;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof InputError) throw error;
    if (error instanceof SyntaxError) throw new InputError("The answer of Lichess cannot be read.");
    throw new InputError(ours.signal.aborted ? "Lichess takes too long to answer. Try again." : "Lichess cannot be reached. Try again, or copy the PGN of the game and paste it here.");
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

function refusal(status: number): string {
  switch (status) {
    case 404:
      return "Lichess has no game of this id.";
    case 429:
      return "Lichess has received too many requests from this computer. Wait a minute, then try again.";
    default:
      return `Lichess answered with status ${status} instead of the game. Try again later.`;
  }
}
