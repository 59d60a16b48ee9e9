/** Precedent: a game against oneself in which only moves that were played before are allowed, or only others. */
import "./precedent.css";
import type { Key } from "@lichess-org/chessground/types";
import type { Played } from "shelfish/book";
import { Board } from "../board/board";
import { plural } from "../text/units";
import { DatabaseClient } from "../database/client";
import { byId, disable, make } from "../shell/dom";
import { BookClient, explain } from "../book/client";
import { bookUrl } from "../settings/book-url";
import { followLinks, writeLinks } from "../link/position-links";
import { reference } from "../book/references";
import { Game, moveNumber, type Node, path, type Step } from "../game/game";
import { bindKeys } from "../shell/keyboard";
import { manifestUrl } from "../settings/manifest-url";
import { keepForOffline } from "../shell/offline";
import { showOpening } from "../moves/opening-label";
import { loadOpenings } from "../game/opening-names";
import { restrictConnections } from "../shell/policy";
import { Preview } from "../board/preview";
import { applyAppearance, load, save } from "../settings/settings";
import { State } from "../state/state";
import { bindTheme } from "../shell/theme";
import { choose, draw, press } from "./list";
import { roll } from "./odometer";
import { allowed, type Choice, choices, games, legal, marks, type Mode, verdict } from "./rules";

/** How long an answer may take before it is said that it is waited for. */
const PATIENCE = 400;
/** How long a move that is the only one is to be seen before it plays itself. */
const MOMENT = 900;
/** Games that the end of a game names. */
const SHOWN = 3;

const settings = load();
applyAppearance(settings);
const evals = new DatabaseClient(manifestUrl(settings.database), 0);
const book = new BookClient(bookUrl(), evals, settings.cache);
restrictConnections(evals.url, book.url);
bindTheme();
// It travels while the page is being set up; a failure shows at the first lookup.
book.open().catch(() => {});

const state = new State();
const play = (from: Node, step: Pick<Step, "move">) => {
  window.clearTimeout(moment);
  state.play(from, step.move);
  if (settings.sounds) void import("../board/sounds").then(({ play }) => play(state.node.san), () => {});
};
const board = new Board((move) => play(state.node, { move }), (key) => mark(key));
const preview = new Preview(() => board.orientation);

let mode: Mode = new URLSearchParams(location.search).has("unprecedented") ? "unprecedented" : "precedent";
let asking = new AbortController();
let moment = 0;
/** What may be played from the position on the board, once that is known. */
let now: Choice[] = [];

/** Asks for the position on the board and shows what may be played. */
async function ask(): Promise<void> {
  asking.abort();
  window.clearTimeout(moment);
  const { signal } = (asking = new AbortController());
  const { node } = state;
  now = [];
  board.show(node, false);
  board.mark(new Map());
  if (byId("end").contains(document.activeElement)) byId("flip").focus({ preventScroll: true });
  byId("end").hidden = true;
  byId("moves").classList.add("stale");
  const waiting = window.setTimeout(() => tell("Looking it up…"), PATIENCE);
  try {
    const [played, before] = await Promise.all([book.moves(node.fen, signal), node.parent && book.moves(node.parent.fen, signal)]);
    window.clearTimeout(waiting);
    if (signal.aborted) return;
    show(node, played, before);
    keepForOffline();
    // Without names the game is as good.
    void loadOpenings().then(() => showOpening(state), () => {});
  } catch (error) {
    window.clearTimeout(waiting);
    if (signal.aborted) return;
    byId("moves").replaceChildren();
    byId("panel").ariaBusy = "false";
    const { title, advice } = explain(error);
    const retry = make("button", { type: "button", "data-testid": "retry" }, "Try again");
    retry.addEventListener("click", () => void ask());
    byId("status").replaceChildren(make("strong", {}, title), ` ${advice} `, retry);
  }
}

function show(node: Node, played: Played, before: Played | undefined): void {
  now = choices(node.position, played, mode);
  board.show(node, now.length > 0, allowed(node.position, now));
  mark(undefined);
  draw(now, { play: (step) => play(node, step), show: (near, step) => preview.show(near, step, node.position) });
  byId("moves").classList.remove("stale");
  byId("panel").ariaBusy = "false";
  roll(byId("odometer"), games(played));
  if (now.length === 0) return end(node, played, before);
  const [only] = now;
  const turn = node.position.turn === "white" ? "White" : "Black";
  if (mode === "unprecedented")
    tell(only?.games ? `${turn} to move: every move was played before; these are the rarest.` : `${turn} to move: ${now.length} of ${legal(node.position).length} moves were never played.`);
  else if (only && now.length === 1) {
    tell(`${only.step.san} is the only move with a precedent: it plays itself.`);
    moment = window.setTimeout(() => play(node, only.step), MOMENT);
  } else tell(`${turn} to move: ${plural(now.length, "move")} with a precedent.`);
}

/** The card at the end of a game. */
function end(node: Node, played: Played, before: Played | undefined): void {
  const { title, text, games } = verdict(node, played, before, mode, book.manifest?.info ?? {});
  byId("end-title").textContent = title;
  byId("end-text").textContent = text;
  byId("end-games").replaceChildren(...games.slice(0, SHOWN).map((game) => make("li", {}, ...reference(game))));
  byId("end").hidden = false;
  tell("");
}

/** Counts on the squares that can be reached: by a piece, or by any. */
function mark(selected: Key | undefined): void {
  const { position } = state.node;
  const own = selected && now.some(({ step }) => allowed(position, [{ step, games: 0 }]).dests.has(selected)) ? selected : undefined;
  board.mark(marks(position, now, own));
}

/** Goes back to where there was something to choose. */
async function back(): Promise<void> {
  let at = state.node.parent;
  if (!at) return;
  window.clearTimeout(moment);
  // Aborted as soon as another position is asked for.
  const { signal } = asking;
  try {
    while (at.parent && choices(at.position, await book.moves(at.fen, signal), mode).length < 2) at = at.parent;
  } catch {
    // What cannot be looked up now is gone back to: the page says what is wrong.
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

/** The fault of the link that was followed, until the position changes. */
let linkFault = "";

function tell(text: string): void {
  byId("status").textContent = [linkFault, text].filter(Boolean).join(" ");
}

/** The moves that were played. */
function line(): void {
  const moves = path(state.node).slice(1).map((node, at) => {
    const before = node.parent?.position;
    return before && (at === 0 || before.turn === "white") ? `${moveNumber(before)} ${node.san}` : node.san;
  });
  byId("line").textContent = moves.join(" ") || "A new game.";
}

state.on(({ node }) => {
  if (!node) return;
  linkFault = "";
  preview.show(undefined);
  for (const id of ["back", "new"]) disable(byId(id), !state.node.parent, byId("flip"));
  line();
  showOpening(state);
  writeLinks(state);
  void ask();
});

/** Chooses the rules; a game by the others begins. */
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

followLinks(state, (fault) => {
  linkFault = fault;
  tell("");
});

bindKeys({
  ArrowLeft: () => void back(),
  ArrowUp: () => choose(-1),
  ArrowDown: () => choose(1),
  n: restart,
  f: flip,
  s: () => sound(),
  u: () => rule(mode === "precedent" ? "unprecedented" : "precedent"),
  ...Object.fromEntries(Array.from({ length: 9 }, (_, at) => [String(at + 1), () => press(at + 1)])),
});
