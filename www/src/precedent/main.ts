/** Precedent: a game against oneself that allows only moves that were played before, or only moves that are not in the book. */
import "./precedent.css";
import type { Key } from "@lichess-org/chessground/types";
import type { Played } from "shelfish/book";
import { Board } from "../board/board";
import { DatabaseClient } from "../database/client";
import { byId, disable, make } from "../shell/dom";
import { BookClient } from "../book/client";
import { moveKeys } from "../book/move-keys";
import { games } from "../book/results";
import { StatusLine } from "../book/status-line";
import { writeLinks } from "../link/position-links";
import { nameFamous, reference } from "../explorer/references";
import { Game, moveNumber, type Node, path, type Step } from "../game/game";
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
import { draw } from "./list";
import { roll } from "./odometer";
import { allowed, type Choice, choices, marks, type Mode, gameEnd, turnText } from "./rules";

/** Milliseconds before an only move is played automatically. */
const AUTOPLAY_DELAY = 900;
/** Number of games that are named at the end of a game. */
const MAX_GAMES = 3;

const settings = load();
applyAppearance(settings);
const evals = new DatabaseClient(manifestUrl(settings.database), 0);
const book = new BookClient(bookUrl(), evals, settings.cache);
restrictConnections(evals.url, book.url);
bindTheme();
// The book loads in parallel with the setup. The first lookup reports a failure.
book.open().catch(() => {});

const state = new State();
const status = new StatusLine(state);
const play = (from: Node, step: Pick<Step, "move">) => {
  window.clearTimeout(autoplay);
  state.play(from, step.move);
  if (settings.sounds) void import("../board/sounds").then(({ play }) => play(state.node.san), () => {});
};
const board = new Board((move) => play(state.node, { move }), (key) => mark(key));

let mode: Mode = new URLSearchParams(location.search).has("unprecedented") ? "unprecedented" : "precedent";
let asking = new AbortController();
let autoplay = 0;
/** The moves that can be played from the position on the board, once they are known. */
let available: Choice[] = [];

/** Looks up the position on the board and shows the moves that can be played. */
async function ask(): Promise<void> {
  asking.abort();
  window.clearTimeout(autoplay);
  const { signal } = (asking = new AbortController());
  const { node } = state;
  available = [];
  board.show(node, false);
  board.mark(new Map());
  if (byId("end").contains(document.activeElement)) byId("flip").focus({ preventScroll: true });
  byId("end").hidden = true;
  byId("moves").classList.add("stale");
  try {
    const [played, before] = await status.waitFor(Promise.all([book.moves(node.fen, signal), node.parent && book.moves(node.parent.fen, signal)]));
    if (signal.aborted) return;
    show(node, played, before);
    keepForOffline();
    // The game works without opening names.
    void loadOpenings().then(() => showOpening(state), () => {});
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
  draw(available, { play: (step) => play(node, step), show: (step) => board.preview(step, node.position) });
  byId("moves").classList.remove("stale");
  byId("panel").ariaBusy = "false";
  roll(byId("odometer"), games(played));
  if (available.length === 0) return end(node, played, before);
  const [only] = available;
  if (only && available.length === 1 && mode === "precedent") {
    status.show(`${only.step.san} is the only move with a precedent: it plays itself.`);
    autoplay = window.setTimeout(() => play(node, only.step), AUTOPLAY_DELAY);
  } else status.show(turnText(node.position, played, available, mode, book.manifest?.info ?? {}));
}

function end(node: Node, played: Played, before: Played | undefined): void {
  const { title, text, games } = gameEnd(node, played, before, mode, book.manifest?.info ?? {});
  byId("end-title").textContent = title;
  byId("end-text").textContent = text;
  const rows = games.slice(0, MAX_GAMES).map((game) => ({ game, row: make("li", {}, ...reference(game, "./", node)) }));
  byId("end-games").replaceChildren(...rows.map(({ row }) => row));
  void nameFamous(rows, "./", node);
  byId("end").hidden = false;
  status.show("");
}

/** Shows the number of games on target squares: of one piece, or of all pieces. */
function mark(selected: Key | undefined): void {
  const { position } = state.node;
  const own = selected && available.some(({ step }) => allowed(position, [{ step, games: 0 }]).dests.has(selected)) ? selected : undefined;
  board.mark(marks(position, available, own));
}

/** Goes back to the last position with several moves. */
async function back(): Promise<void> {
  let at = state.node.parent;
  if (!at) return;
  window.clearTimeout(autoplay);
  // The signal is aborted by the next lookup.
  const { signal } = asking;
  try {
    while (at.parent && choices(at.position, await book.moves(at.fen, signal), mode).length < 2) at = at.parent;
  } catch {
    // A position that cannot be looked up is shown, and the page reports the error.
  }
  if (!signal.aborted) state.go(at);
}

const restart = () => state.enter(new Game());
const flip = () => void board.flip();

function sound(isOn = !settings.sounds): void {
  settings.sounds = isOn;
  save(settings);
  byId("sound").setAttribute("aria-pressed", String(isOn));
}

function line(): void {
  const moves = path(state.node).slice(1).map((node, at) => {
    const before = node.parent?.position;
    return before && (at === 0 || before.turn === "white") ? `${moveNumber(before)} ${node.san}` : node.san;
  });
  byId("line").textContent = moves.join(" ") || (state.game.startsAsUsual ? "A new game." : "A game from this position.");
}

state.on(({ node }) => {
  if (!node) return;
  for (const id of ["back", "new"]) disable(byId(id), !state.node.parent, byId("flip"));
  line();
  showOpening(state);
  writeLinks(state);
  void ask();
});

/** Changes the rules and starts a new game. */
function rule(to: Mode): void {
  if (to === mode) return;
  mode = to;
  const { search } = location;
  const rest = new URLSearchParams(search);
  rest.delete("unprecedented");
  const words = [...(to === "unprecedented" ? ["unprecedented"] : []), ...(rest.size > 0 ? [rest.toString()] : [])].join("&");
  history.replaceState(null, "", `${location.pathname}${words && `?${words}`}`);
  byId<HTMLInputElement>(to).checked = true;
  restart();
}

for (const each of ["precedent", "unprecedented"] as const) byId(each).addEventListener("change", () => rule(each));
byId<HTMLInputElement>(mode).checked = true;
sound(settings.sounds);
for (const [id, action] of Object.entries({ back, new: restart, flip, sound: () => sound(), "end-back": back, "end-new": restart })) byId(id).addEventListener("click", () => void action());

bindPreviewEnd(byId("moves"), () => board.preview());
status.followLinks();

bindKeys({
  ArrowLeft: () => void back(),
  n: restart,
  f: flip,
  s: () => sound(),
  u: () => rule(mode === "precedent" ? "unprecedented" : "precedent"),
  ...moveKeys("moves"),
});
