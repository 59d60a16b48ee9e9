/** The page: one game, one position of it on the board, and what the database has for it. */
import type { Eval } from "shelfish";
import { follow, write } from "./address";
import { Board } from "./board";
import { plural, size, summary } from "./cost";
import { DatabaseClient, explain } from "./database";
import { bindHelp, bindOpenDialog } from "./dialogs";
import { byId } from "./dom";
import { EvaluationPanel } from "./evaluation";
import { ending, Game, lineFrom, type Node, parseMove, path } from "./game";
import { Graph } from "./graph";
import { InputError, read } from "./input";
import { bindKeys } from "./keyboard";
import { Library } from "./library";
import { format, parse } from "./link";
import { MoveList } from "./moves";
import { players } from "./names";
import { confine } from "./policy";
import { advantage } from "./score";
import { bindTheme } from "./theme";

const client = new DatabaseClient(manifestUrl());
confine(client.url);
// The lookup module and the manifest travel while the page is being set up; a failure shows at the first lookup.
client.open().then(describeDatabase, () => {});

let game = new Game();
let node = game.root;
/** What is known of positions seen so far, by FEN. */
const known = new Map<string, Eval | null>();
/** The lookup of the position on the board; stepping on cancels it. */
let looking = new AbortController();
/** The whole game's lookup under way, if any. */
let sweep: { done: Promise<boolean>; abort: AbortController } | undefined;

const board = new Board((move) => go(game.play(node, move)));
const panel = new EvaluationPanel({
  preview: (step, before) => board.preview(step, before),
  play: (from, line) => go(line.reduce((at, step) => game.play(at, step.move), from)),
  arrows: (first) => board.arrows(first, node.position),
  retry: () => enter(game, node),
});
const moves = new MoveList((at) => known.get(at.fen)?.best.pvs[0]?.score, (at) => go(at), () => library.offers());
const library = new Library((picked) => pick(picked));
const graph = new Graph((ply) => go(game.mainline()[ply] ?? node));
const dialog = bindOpenDialog(openText);
const help = bindHelp();
bindTheme();

/** Steps to a position of the game on the board. */
function go(to: Node): void {
  node = to;
  draw();
  write(format(game, node));
  void consult();
}

/** Puts a game on the board. */
function enter(next: Game, at: Node): void {
  game = next;
  node = at;
  sweep?.abort.abort();
  sweep = undefined;
  draw();
  library.show(game);
  const names = players(game.headers);
  document.title = `${names || "Shelfish"} · ${names ? "Shelfish" : "chess evaluations off the shelf"}`;
  if (game.mainline().length > 1) sweepGame();
  void consult();
}

function draw(): void {
  board.show(node);
  board.arrows([], node.position);
  moves.show(game, node);
  drawGraph();
  const atEnd = node.children.length === 0;
  for (const id of ["first", "previous"]) byId<HTMLButtonElement>(id).disabled = node === game.root;
  for (const id of ["next", "last"]) byId<HTMLButtonElement>(id).disabled = atEnd;
}

function drawGraph(): void {
  const main = game.mainline();
  const points = main.map((at) => {
    const best = known.get(at.fen)?.best.pvs[0];
    if (best) return advantage(best);
    const end = at.children.length === 0 ? ending(at.position) : undefined;
    return end && (end.winner === undefined ? 0 : end.winner === "white" ? 1 : -1);
  });
  const ply = main.indexOf(node);
  graph.show(points, ply === -1 ? undefined : ply);
}

/** Looks up the position on the board. The latest question wins. */
async function consult(): Promise<void> {
  looking.abort();
  looking = new AbortController();
  const { signal } = looking;
  const at = node;
  const end = ending(at.position);
  if (end) {
    panel.over(at, end);
    return;
  }
  const shown = show(at);
  // A quick answer should not flicker past a "looking it up".
  const slow = window.setTimeout(() => !shown && panel.waiting(), 120);
  try {
    if (sweep) {
      const swept = await Promise.race([sweep.done, aborted(signal)]);
      if (signal.aborted) return;
      // The whole game's cost stands in the line already.
      if (swept && (shown || show(at))) return;
    }
    const { answer, cost } = await client.lookup(at.fen, signal);
    if (signal.aborted) return;
    known.set(at.fen, answer);
    describeDatabase();
    if (!shown) show(at);
    panel.cost(summary(cost));
    drawGraph();
    moves.refresh();
  } catch (error) {
    if (!signal.aborted) panel.failed(explain(error));
  } finally {
    window.clearTimeout(slow);
  }
}

/** Shows what is known of a position; false if that is nothing yet. */
function show(at: Node): boolean {
  const answer = known.get(at.fen);
  if (answer) panel.found(at, answer);
  else if (answer === null) panel.absent(at, client.manifest?.positions);
  return answer !== undefined;
}

/** Looks the whole main line up in one go, so that every step of it is instant. */
function sweepGame(): void {
  const abort = new AbortController();
  const wanted = game.mainline().filter((at) => at.position.hasDests());
  const run = async () => {
    try {
      const { answers, cost } = await client.lookupMany(wanted.map((at) => at.fen), abort.signal);
      if (abort.signal.aborted) return false;
      wanted.forEach((at, index) => {
        const answer = answers[index];
        if (answer !== undefined) known.set(at.fen, answer);
      });
      panel.cost(`Whole game, ${plural(wanted.length, "position")}: ${summary(cost)}`);
      drawGraph();
      moves.refresh();
      return true;
    } catch {
      // The lookup of the position on the board meets the same failure and reports it.
      return false;
    } finally {
      if (sweep?.abort === abort) sweep = undefined;
    }
  };
  sweep = { done: run(), abort };
}

function aborted(signal: AbortSignal): Promise<false> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(false), { once: true }));
}

/** Opens pasted text. Throws an `InputError`. */
function openText(text: string): void {
  const { games, refused, remark } = read(text);
  library.add(...games);
  if (games[0]) pick(games[0]);
  const told = games.length > 1 ? [`${plural(games.length, "game")} opened: the menu has them all.`] : [];
  told.push(...refused.map(({ index, name, reason }) => `Game ${index}${name && ` (${name})`} was refused: ${reason}`));
  if (remark) told.push(remark);
  notice(told.join(" "));
}

function notice(text: string | undefined): void {
  byId("notice").textContent = text ?? "";
  byId("notice").hidden = !text;
}

/** Puts another game on the board, at its start. */
function pick(next: Game): void {
  notice(undefined);
  enter(next, next.root);
  write(format(game, node), true);
}

/** Puts the position on the board that a link names. */
function restore(fragment: string): void {
  try {
    const { game: linked, node: at } = parse(fragment, (slug) => library.famous(slug));
    notice(undefined);
    const same = linked.slug ? undefined : library.like(linked);
    if (same) enter(same, path(at).reduce((to, step) => (step.move ? same.play(to, step.move) : to), same.root));
    else {
      if (!linked.slug && !linked.startsAsUsual) library.add(linked);
      enter(linked, at);
    }
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const fresh = new Game();
    enter(fresh, fresh.root);
    notice(error.message);
  }
}

// Buttons, keys, typed moves.

const first = () => go(game.root);
const previous = () => node.parent && go(node.parent);
const next = () => node.children[0] && go(node.children[0]);
const last = () => go(lineFrom(node).at(-1) ?? node);
const flip = () => byId("bar").classList.toggle("flipped", board.flip() === "black");

for (const [id, action] of Object.entries({ first, previous, next, last, flip })) byId(id).addEventListener("click", () => void action());

const typed = byId<HTMLInputElement>("move");
typed.addEventListener("keydown", (event) => {
  if (event.key === "Escape") typed.blur();
  if (event.key !== "Enter") return;
  const move = parseMove(node.position, typed.value);
  typed.setAttribute("aria-invalid", String(!move));
  typed.title = move ? "" : `${typed.value} is not a legal move here`;
  if (!move) return;
  typed.value = "";
  go(game.play(node, move));
});
typed.addEventListener("input", () => typed.removeAttribute("aria-invalid"));

bindKeys({
  ArrowLeft: previous,
  ArrowRight: next,
  ArrowUp: first,
  ArrowDown: last,
  Home: first,
  End: last,
  " ": () => document.querySelector<HTMLElement>("#lines .line button")?.click(),
  f: flip,
  m: () => typed.focus(),
  o: dialog.ask,
  "?": help,
});

/** The database beside the page, or the one that the address names. */
function manifestUrl(): URL {
  const named = new URLSearchParams(location.search).get("db") ?? "db/manifest.json";
  // An address that cannot be read is a manifest that cannot be found: it says so in its place.
  return URL.canParse(named, document.baseURI) ? new URL(named, document.baseURI) : new URL(encodeURIComponent(named), document.baseURI);
}

function describeDatabase(): void {
  if (!client.manifest) return;
  const { positions, evaluations, bytes } = client.manifest;
  byId("database").textContent = `This database: ${plural(positions, "position")}, ${plural(evaluations, "evaluation")}, ${size(bytes)}.`;
}

follow(restore);
