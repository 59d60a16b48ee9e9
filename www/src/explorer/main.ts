/** The opening explorer: what was played from the position on the board, with evaluations beside the moves. */
import "./explorer.css";
import { Board } from "../board/board";
import { nextTask } from "../loading/next-task";
import { plural, size } from "../text/units";
import { DatabaseClient } from "../database/client";
import { byId, make, redraw } from "../shell/dom";
import { moveNumber, path } from "../game/game";
import { bindKeys } from "../shell/keyboard";
import { manifestUrl } from "../settings/manifest-url";
import { updateStepButtons, navigation } from "../state/navigation";
import { keepForOffline } from "../shell/offline";
import { showOpening } from "../moves/opening-label";
import { loadOpenings } from "../game/opening-names";
import { restrictConnections } from "../shell/policy";
import { Preview } from "../board/preview";
import { applyAppearance, load } from "../settings/settings";
import { State } from "../state/state";
import { bindTheme } from "../shell/theme";
import { bindTyped } from "../moves/move-field";
import { BookClient, explain } from "../book/client";
import { bookUrl } from "../settings/book-url";
import { followLinks, writeLinks } from "../link/position-links";
import { BucketChoice } from "./buckets";
import { drawReferences } from "../book/references";
import { choose, draw, fill, press } from "./table";

/** How long an answer may take before it is said that it is waited for. */
const PATIENCE = 400;

const settings = load();
applyAppearance(settings);
const evals = new DatabaseClient(manifestUrl(settings.database), settings.cache);
const book = new BookClient(bookUrl(), evals, settings.cache);
restrictConnections(evals.url, book.url);
bindTheme();
// It travels while the page is being set up; a failure shows at the first lookup. The evaluations are opened when the counts are drawn.
book.open().catch(() => {});

const state = new State();
const board = new Board((move) => state.play(state.node, move));
const preview = new Preview(() => board.orientation);
const { first, previous, next, last } = navigation(state);
const flip = () => void board.flip();
for (const [id, action] of Object.entries({ first, previous, next, last, flip })) byId(id).addEventListener("click", action);

const choice = new BucketChoice(() => void ask());

let asking = new AbortController();

/** Asks for the position on the board: counts are drawn when they are there, evaluations when they come. */
async function ask(): Promise<void> {
  asking.abort();
  const { signal } = (asking = new AbortController());
  const { node } = state;
  const play = (step: { move: Parameters<State["play"]>[1] }) => state.play(node, step.move);
  const show = (near?: Element, step?: Parameters<Preview["show"]>[1]) => preview.show(near, step, node.position);
  const waiting = window.setTimeout(() => tell("Looking it up…"), PATIENCE);
  byId("played").classList.add("stale");
  try {
    const buckets = choice.chosen;
    const played = await book.moves(node.fen, signal, buckets);
    window.clearTimeout(waiting);
    if (signal.aborted) return;
    draw(node, played, { play, show });
    drawReferences(played);
    byId("panel").ariaBusy = "false";
    byId("played").classList.remove("stale");
    tell(played.moves.length > 0 ? "" : silence(played.ended.white + played.ended.draws + played.ended.black > 0));
    describe();
    keepForOffline();
    // What follows is more work: the counts are to be seen before it.
    await nextTask();
    if (signal.aborted) return;
    // Without names or evaluations the table is as good.
    const named = loadOpenings().then(nextTask).then(() => showOpening(state)).catch(() => {});
    const { moves } = await book.explore(node.fen, signal, buckets);
    await named.then(nextTask);
    if (!signal.aborted) fill(moves);
  } catch (error) {
    window.clearTimeout(waiting);
    if (signal.aborted) return;
    if (!byId("played").classList.contains("stale")) return void tell("The evaluations cannot be looked up now.");
    byId("played").hidden = byId("games").hidden = true;
    byId("panel").ariaBusy = "false";
    const { title, advice } = explain(error);
    const retry = make("button", { type: "button", "data-testid": "retry" }, "Try again");
    retry.addEventListener("click", () => void ask());
    byId("status").replaceChildren(make("strong", {}, title), ` ${advice} `, retry);
  }
}

/** The fault of the link that was followed, until the position changes. */
let linkFault = "";

function tell(text: string): void {
  byId("status").textContent = [linkFault, text].filter(Boolean).join(" ");
}

function silence(hasEnds: boolean): string {
  if (!state.node.position.hasDests()) return state.node.position.isCheck() ? "Checkmate." : "Stalemate.";
  if (choice.chosen) return "No game of these buckets reached this position.";
  if (hasEnds) return "The games of the book go no further here.";
  const info = book.manifest?.info ?? {};
  const least = Number(info.min_games ?? 1);
  const limits = [info.max_plies ? `the first ${info.max_plies} half-moves` : "", least > 1 ? `positions of at least ${least} games` : ""];
  const told = limits.filter(Boolean).join(" and ");
  return `No game of the book reached this position${told ? ` (it has ${told})` : ""}.`;
}

/** The moves that led here; each can be gone back to. */
function line(): void {
  const nodes = path(state.node).slice(1);
  // Not disabled, which would take the focus away from who has just pressed it.
  const start = make("button", { type: "button", "aria-disabled": nodes.length === 0 }, "Start");
  start.addEventListener("click", first);
  const moves = nodes.flatMap((node, at) => {
    const before = node.parent?.position;
    const number = before && (at === 0 || before.turn === "white") ? `${moveNumber(before)} ` : "";
    const button = make("button", { type: "button", "aria-current": node === state.node ? "true" : undefined }, number + node.san);
    button.addEventListener("click", () => state.go(node));
    return [" ", button];
  });
  redraw(byId("line"), start, ...moves);
}

function describe(): void {
  if (!book.manifest) return;
  choice.draw(book.manifest.buckets);
  // Weights of Polyglot are counted as draws, which they are not.
  document.body.classList.toggle("no-results", book.manifest.info.results === "unknown");
  const { positions, bytes, info } = book.manifest;
  byId("facts").textContent = [plural(Number(info.games ?? 0), "game"), plural(positions, "position"), size(bytes)].join(", ");
}

state.on(({ node }) => {
  if (!node) return;
  linkFault = "";
  preview.show(undefined);
  board.show(state.node);
  updateStepButtons(state.node);
  line();
  showOpening(state);
  writeLinks(state);
  void ask();
});

followLinks(state, (fault) => {
  linkFault = fault;
  tell("");
});

bindKeys({
  ArrowLeft: previous,
  ArrowRight: next,
  ArrowUp: () => choose(-1),
  ArrowDown: () => choose(1),
  Home: first,
  End: last,
  f: flip,
  m: bindTyped(state),
  ...Object.fromEntries(Array.from({ length: 9 }, (_, at) => [String(at + 1), () => press(at + 1)])),
});
