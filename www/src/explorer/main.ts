/** The opening explorer: the moves that were played from the position on the board, with evaluations. */
import "./explorer.css";
import { Board } from "../board/board";
import { nextTask } from "../loading/next-task";
import { plural, size } from "../text/units";
import { DatabaseClient } from "../database/client";
import { byId } from "../shell/dom";
import type { Step } from "../game/game";
import { bindKeys } from "../shell/keyboard";
import { bookUrl, manifestUrl } from "../settings/data-urls";
import { updateStepButtons, navigation } from "../state/navigation";
import { keepForOffline } from "../shell/offline";
import { showOpening } from "../moves/opening-label";
import { drawPath } from "../moves/path";
import { loadOpenings } from "../game/opening-names";
import { restrictConnections } from "../shell/policy";
import { bindPreviewEnd } from "../board/preview";
import { applyAppearance, load } from "../settings/settings";
import { State } from "../state/state";
import { bindTheme } from "../shell/theme";
import { bindTyped } from "../moves/move-field";
import { BookClient } from "../book/client";
import { moveKeys } from "../book/move-keys";
import { absentText } from "../book/limits";
import { games } from "../book/results";
import { StatusLine } from "../book/status-line";
import { writeLinks } from "../link/position-links";
import { BucketChoice } from "./buckets";
import { drawReferences } from "../book/references";
import { draw, fill } from "./table";

const settings = load();
applyAppearance(settings);
const evals = new DatabaseClient(manifestUrl(settings.database), settings.cache);
const book = new BookClient(bookUrl(), evals, settings.cache);
restrictConnections(evals.url, book.url);
bindTheme();
// The book loads in parallel with the setup. The first lookup reports a failure. The evaluations are opened after the counts are drawn.
book.open().catch(() => {});

const state = new State();
const status = new StatusLine(state);
const board = new Board((move) => state.play(state.node, move));
const { first, previous, next, last } = navigation(state);
const flip = () => void board.flip();
for (const [id, action] of Object.entries({ first, previous, next, last, flip })) byId(id).addEventListener("click", action);

const choice = new BucketChoice(() => void ask());

let asking = new AbortController();

/** Looks up the position on the board. Draws the counts first, then the evaluations. */
async function ask(): Promise<void> {
  asking.abort();
  const { signal } = (asking = new AbortController());
  const { node } = state;
  const play = (step: { move: Parameters<State["play"]>[1] }) => state.play(node, step.move);
  const show = (step: Step) => board.preview(step, node.position);
  byId("played").classList.add("stale");
  try {
    const buckets = choice.chosen;
    const played = await status.waitFor(book.moves(node.fen, signal, buckets));
    if (signal.aborted) return;
    draw(node, played, { play, show });
    drawReferences(played);
    byId("panel").ariaBusy = "false";
    byId("played").classList.remove("stale");
    status.show(played.moves.length > 0 ? "" : noMovesText(games(played.ended) > 0));
    describe();
    keepForOffline();
    // Lets the browser paint the counts before the work that follows.
    await nextTask();
    if (signal.aborted) return;
    // The table works without opening names and evaluations.
    const named = loadOpenings().then(nextTask).then(() => showOpening(state)).catch(() => {});
    const { moves } = await book.explore(node.fen, signal, buckets);
    await named.then(nextTask);
    if (!signal.aborted) fill(moves);
  } catch (error) {
    if (signal.aborted) return;
    if (!byId("played").classList.contains("stale")) return void status.show("The evaluations cannot be looked up now.");
    byId("played").hidden = byId("games").hidden = true;
    status.showError(error, () => void ask());
  }
}

function noMovesText(hasEnds: boolean): string {
  if (!state.node.position.hasDests()) return state.node.position.isCheck() ? "Checkmate." : "Stalemate.";
  if (choice.chosen) return "This position has no game of the selected groups in this book.";
  if (hasEnds) return "All games of the book that reached this position end here.";
  return absentText(book.manifest?.info ?? {});
}

function describe(): void {
  if (!book.manifest) return;
  choice.draw(book.manifest.buckets);
  // Books made from Polyglot files have weights that are stored as draws but are not results.
  document.body.classList.toggle("no-results", book.manifest.info.results === "unknown");
  const { positions, bytes, info } = book.manifest;
  byId("facts").textContent = [plural(Number(info.games ?? 0), "game"), plural(positions, "position"), size(bytes)].join(", ");
}

state.on(({ node }) => {
  if (!node) return;
  board.show(state.node);
  updateStepButtons(state.node);
  drawPath(state);
  showOpening(state);
  writeLinks(state);
  void ask();
});

bindPreviewEnd(byId("moves"), () => board.preview());
status.followLinks();

bindKeys({
  ArrowLeft: previous,
  ArrowRight: next,
  Home: first,
  End: last,
  f: flip,
  m: bindTyped(state),
  ...moveKeys,
});
