/** Precedent: a game against oneself that allows only moves that were played before, or only moves that are not in the book. */
import "./precedent.css";
import type { Key } from "@lichess-org/chessground/types";
import type { Position } from "chessops/chess";
import type { Played } from "shelfish/book";
import { openBook, openDatabase } from "shelfish/explorer";
import { Board } from "../board/board";
import { DatabaseClient } from "../database/client";
import { byId, disable, make } from "../shell/dom";
import { BookClient } from "../book/client";
import { moveKeys } from "../book/move-keys";
import { games } from "../book/results";
import { StatusLine } from "../book/status-line";
import { writeLinks } from "../link/position-links";
import { nameFamous, reference } from "../explorer/references";
import {
  Game,
  moveText,
  type Node,
  path,
  sameMove,
  type Step,
} from "../game/game";
import { bindKeys } from "../shell/keyboard";
import { bookUrl, manifestUrl } from "../settings/data-urls";
import { keepForOffline } from "../shell/offline";
import { showOpening } from "../moves/opening-label";
import { loadOpenings } from "../game/opening-names";
import { restrictConnections } from "../shell/policy";
import { bindPreviewEnd } from "../board/preview";
import { applyAppearance, load, save } from "../settings/settings";
import { State } from "../state/state";
import { bindTheme } from "../shell/theme";
import {
  Challenge,
  challengeEnd,
  challengeText,
  type Reply,
} from "./challenge";
import { draw } from "./list";
import { roll } from "./odometer";
import {
  allowed,
  type Choice,
  choices,
  marks,
  type Mode,
  type GameEnd,
  gameEnd,
  turnText,
} from "./rules";

/** Milliseconds before an only move is played automatically. */
const AUTOPLAY_DELAY = 900;
/** Number of games that are named at the end of a game. */
const MAX_GAMES = 3;

const settings = load();
applyAppearance(settings);
const evals = new DatabaseClient(
  manifestUrl(settings.database),
  0,
  openDatabase,
);
const book = new BookClient(bookUrl(), evals, settings.cache, openBook);
restrictConnections(evals.url, book.url);
bindTheme();
// The book loads in parallel with the setup. The first lookup reports a failure.
book.open().catch(() => {});

const state = new State();
const status = new StatusLine(state);
const play = (from: Node, step: Pick<Step, "move">) => {
  window.clearTimeout(autoplay);
  const isFresh = available.some(
    ({ step: { move }, games }) => games === 0 && sameMove(move, step.move),
  );
  state.play(from, step.move);
  if (isFresh) fresh.add(state.node);
  if (settings.sounds)
    void import("../board/sounds").then(
      ({ play }) => play(state.node.san),
      () => {},
    );
};
const board = new Board(
  (move) => play(state.node, { move }),
  (key) => mark(key),
);

const challenge = new Challenge();
/** Whether the engine plays the other side. */
let isChallenge = false;
/** The engine's last answer in the challenge. */
let reply: Reply | undefined;
let mode: Mode = new URLSearchParams(location.search).has("unprecedented")
  ? "unprecedented"
  : "precedent";
/** The positions after moves of the player that are not in the book. */
const fresh = new WeakSet<Node>();
let asking = new AbortController();
let autoplay = 0;
/** The moves that can be played from the position on the board, once they are known. */
let available: Choice[] = [];

/** Returns the number of moves of the challenge in the line to a position. */
const count = (node: Node): number =>
  path(node).filter(
    (at) => fresh.has(at) && at.parent?.position.turn === player(),
  ).length;

/** The side of the player in the challenge: the side that moves first. */
const player = () => state.game.root.position.turn;

/** Lets the engine answer a move of the player, or ends the challenge. */
async function answer(node: Node, signal: AbortSignal): Promise<void> {
  status.show("The engine thinks…");
  const found = await challenge.reply(node, player(), signal);
  if (signal.aborted) return;
  reply = found;
  if (found.step) return play(node, found.step);
  // The last move does not count.
  const moves = count(node) - (fresh.has(node) ? 1 : 0);
  showEnd(
    {
      ...challengeEnd(node.san, moves, challenge.record(moves), found),
      games: [],
    },
    node,
  );
}

/** Looks up the position on the board and shows the moves that can be played. */
async function ask(): Promise<void> {
  asking.abort();
  window.clearTimeout(autoplay);
  const { signal } = (asking = new AbortController());
  const { node } = state;
  available = [];
  board.show(node, false);
  board.mark(new Map());
  if (byId("end").contains(document.activeElement))
    byId("flip").focus({ preventScroll: true });
  byId("end").hidden = true;
  byId("moves").classList.add("stale");
  try {
    if (
      isChallenge &&
      node.position.turn !== player() &&
      node.position.hasDests()
    )
      return await answer(node, signal);
    const [played, before] = await status.waitFor(
      Promise.all([
        book.moves(node.fen, signal),
        node.parent && book.moves(node.parent.fen, signal),
      ]),
    );
    if (signal.aborted) return;
    show(node, played, before);
    keepForOffline();
    // The game works without opening names.
    void loadOpenings().then(
      () => showOpening(state),
      () => {},
    );
  } catch (error) {
    if (signal.aborted) return;
    byId("moves").replaceChildren();
    status.showError(error, () => void ask());
  }
}

function show(node: Node, played: Played, before: Played | undefined): void {
  available = choices(node.position, played, mode);
  board.show(node, available.length > 0, allowed(node.position, available));
  mark(undefined);
  draw(available, {
    play: (step) => play(node, step),
    show: (step) => board.preview(step, node.position),
  });
  byId("moves").classList.remove("stale");
  byId("panel").ariaBusy = "false";
  roll(byId("odometer"), games(played));
  if (available.length === 0) return end(node, played, before);
  if (isChallenge) return turn(node, played);
  const [only] = available;
  if (only && available.length === 1 && mode === "precedent") {
    status.show(
      `${only.step.san} is the only move with a precedent: it plays itself.`,
    );
    autoplay = window.setTimeout(() => play(node, only.step), AUTOPLAY_DELAY);
  } else
    status.show(
      turnText(
        node.position,
        played,
        available,
        mode,
        book.manifest?.info ?? {},
      ),
    );
}

/** Begins a move of the player in the challenge. If every move is in the book, the rarest moves may be played, but do not count. */
function turn(node: Node, played: Played): void {
  const moves = count(node);
  challenge.record(moves);
  status.show(
    `${challengeText(moves, challenge.best, reply)} ${turnText(node.position, played, available, mode, book.manifest?.info ?? {})}`,
  );
}

function end(node: Node, played: Played, before: Played | undefined): void {
  if (isChallenge) challenge.record(count(node));
  showEnd(gameEnd(node, played, before, mode, book.manifest?.info ?? {}), node);
}

function showEnd({ title, text, games }: GameEnd, node: Node): void {
  byId("end-title").textContent = title;
  byId("end-text").textContent = text;
  const rows = games
    .slice(0, MAX_GAMES)
    .map((game) => ({
      game,
      row: make("li", {}, ...reference(game, "./", node)),
    }));
  byId("end-games").replaceChildren(...rows.map(({ row }) => row));
  void nameFamous(rows, "./", node);
  byId("end").hidden = false;
  status.show("");
}

/** Shows the number of games on target squares: of one piece, or of all pieces. */
function mark(selected: Key | undefined): void {
  const { position } = state.node;
  const own =
    selected &&
    available.some(({ step }) =>
      allowed(position, [{ step, games: 0 }]).dests.has(selected),
    )
      ? selected
      : undefined;
  board.mark(marks(position, available, own));
}

/** Goes back to the last position with several moves. */
async function back(): Promise<void> {
  if (isChallenge) return;
  let at = state.node.parent;
  if (!at) return;
  window.clearTimeout(autoplay);
  // The signal is aborted by the next lookup.
  const { signal } = asking;
  try {
    while (
      at.parent &&
      choices(at.position, await book.moves(at.fen, signal), mode).length < 2
    )
      at = at.parent;
  } catch {
    // A position that cannot be looked up is shown, and the page reports the error.
  }
  if (!signal.aborted) state.go(at);
}

const restart = (position?: Position) => {
  reply = undefined;
  state.enter(new Game(position));
};
const flip = () => void board.flip();

function sound(isOn = !settings.sounds): void {
  settings.sounds = isOn;
  save(settings);
  byId("sound").setAttribute("aria-pressed", String(isOn));
}

function line(): void {
  const moves = path(state.node)
    .slice(1)
    .map((node, at) => moveText(node, at === 0));
  byId("line").textContent =
    moves.join(" ") ||
    (state.game.startsAsUsual ? "A new game." : "A game from this position.");
}

state.on(({ node }) => {
  if (!node) return;
  // The challenge counts moves, so that no move is taken back.
  disable(byId("back"), !state.node.parent || isChallenge, byId("flip"));
  disable(byId("new"), !state.node.parent, byId("flip"));
  byId("end-back").hidden = isChallenge;
  line();
  showOpening(state);
  writeLinks(state);
  void ask();
});

/** Turns the challenge on or off and starts a new game. */
function setChallenge(isOn: boolean): void {
  isChallenge = isOn;
  byId<HTMLInputElement>("challenge").checked = isOn;
  restart(state.game.root.position);
}

/** Changes the rules and starts a new game. */
function rule(to: Mode): void {
  if (to === mode) return;
  mode = to;
  isChallenge = false;
  byId<HTMLInputElement>("challenge").checked = false;
  byId("challenge-row").hidden = to !== "unprecedented";
  const { search } = location;
  const rest = new URLSearchParams(search);
  rest.delete("unprecedented");
  const words = [
    ...(to === "unprecedented" ? ["unprecedented"] : []),
    ...(rest.size > 0 ? [rest.toString()] : []),
  ].join("&");
  history.replaceState(null, "", `${location.pathname}${words && `?${words}`}`);
  byId<HTMLInputElement>(to).checked = true;
  restart();
}

for (const each of ["precedent", "unprecedented"] as const)
  byId(each).addEventListener("change", () => rule(each));
byId<HTMLInputElement>(mode).checked = true;
byId("challenge-row").hidden = mode !== "unprecedented";
byId("challenge").addEventListener("change", () =>
  setChallenge(byId<HTMLInputElement>("challenge").checked),
);
sound(settings.sounds);
for (const [id, action] of Object.entries({
  back,
  new: () => restart(),
  flip,
  sound: () => sound(),
  "end-back": back,
  "end-new": () => restart(),
}))
  byId(id).addEventListener("click", () => void action());

bindPreviewEnd(byId("moves"), () => board.preview());
status.followLinks();

bindKeys({
  ArrowLeft: () => void back(),
  n: () => restart(),
  f: flip,
  s: () => sound(),
  c: () => mode === "unprecedented" && setChallenge(!isChallenge),
  u: () => rule(mode === "precedent" ? "unprecedented" : "precedent"),
  ...moveKeys("moves"),
});
