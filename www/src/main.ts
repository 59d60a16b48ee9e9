/** The page: one game, one position of it on the board, and what the shelf knows about it. */
import type { Eval } from "shelfish";
import { Board } from "./board";
import { plural, size, summary } from "./cost";
import { explain, type Manifest, Shelf } from "./database";
import { bindHelp, bindOpenDialog } from "./dialogs";
import { byId, make } from "./dom";
import { EvaluationPanel } from "./evaluation";
import { famous } from "./famous";
import { ending, Game, lineFrom, type Node, parseMove, path, type Step } from "./game";
import { Graph } from "./graph";
import { InputError, read } from "./input";
import { bindKeys } from "./keyboard";
import { format, parse } from "./link";
import { MoveList } from "./moves";
import { players } from "./names";
import { confine } from "./policy";
import { advantage } from "./score";
import { bindTheme } from "./theme";

const manifest = new URL(new URLSearchParams(location.search).get("db") ?? "db/manifest.json", document.baseURI);
confine(manifest);
const shelf = new Shelf(manifest);
// The lookup module and the manifest travel while the page is being set up; a failure shows at the first lookup.
shelf.open().then(({ manifest }) => describeShelf(manifest), () => {});

let game = new Game();
let node = game.root;
/** Games opened from text, newest last: they stay in the menu and survive the back button. */
const opened: Game[] = [];
/** What is known of positions seen so far, by FEN. */
const known = new Map<string, Eval | null>();
/** The lookup of the position on the board; stepping on cancels it. */
let looking = new AbortController();
/** The whole game's lookup under way, if any. */
let sweep: { done: Promise<boolean>; abort: AbortController } | undefined;

const board = new Board((move) => go(game.play(node, move)));
const panel = new EvaluationPanel({
  preview: (step, before) => board.preview(step, before),
  play: (line: readonly Step[]) => go(line.reduce((at, step) => game.play(at, step.move), node)),
  arrows: (first) => board.arrows(first, node.position),
  retry: () => enter(game, node),
});
const moves = new MoveList((at) => known.get(at.fen)?.best.pvs[0]?.score, (at) => go(at), offerGames);
const graph = new Graph((ply) => go(game.mainline()[ply] ?? node));
const dialog = bindOpenDialog(openText);
const help = bindHelp();
bindTheme();

/** Steps to a position of the game on the board. */
function go(to: Node): void {
  node = to;
  draw();
  remember();
  void consult();
}

/** Puts a game on the board. */
function enter(next: Game, at: Node): void {
  game = next;
  node = at;
  sweep?.abort.abort();
  sweep = undefined;
  draw();
  listGames();
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
    const end = ending(at.position);
    if (end) return end.winner === undefined ? 0 : end.winner === "white" ? 1 : -1;
    const best = known.get(at.fen)?.best.pvs[0];
    return best && advantage(best);
  });
  const ply = main.indexOf(node);
  graph.show(points, ply === -1 ? undefined : ply);
}

/** Asks the shelf about the position on the board. The latest question wins. */
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
  const shown = answerKnown(at);
  // A quick answer should not flicker past a "looking it up".
  const slow = window.setTimeout(() => !shown && panel.waiting(), 120);
  try {
    if (sweep) {
      const swept = await Promise.race([sweep.done, aborted(signal)]);
      if (signal.aborted) return;
      // The whole game's cost stands in the line already.
      if (swept && (shown || answerKnown(at))) return;
    }
    const { answer, cost } = await shelf.lookup(at.fen, signal);
    if (signal.aborted) return;
    known.set(at.fen, answer);
    if (!shown) await answerNow(at, answer);
    panel.cost(summary(cost));
    moves.refresh();
    drawGraph();
  } catch (error) {
    if (!signal.aborted) panel.failed(explain(error, shelf.url));
  } finally {
    window.clearTimeout(slow);
  }
}

function answerKnown(at: Node): boolean {
  const answer = known.get(at.fen);
  if (answer === undefined) return false;
  void answerNow(at, answer);
  return true;
}

async function answerNow(at: Node, answer: Eval | null): Promise<void> {
  if (answer) panel.found(at, answer);
  else panel.absent(at, (await shelf.open()).manifest.positions);
}

/** Looks the whole main line up in one go, so that every step of it is instant. */
function sweepGame(): void {
  const abort = new AbortController();
  const wanted = game.mainline().filter((at) => at.position.hasDests());
  const run = async () => {
    try {
      const { answers, cost } = await shelf.lookupMany(wanted.map((at) => at.fen), abort.signal);
      if (abort.signal.aborted) return false;
      wanted.forEach((at, index) => known.set(at.fen, answers[index] ?? null));
      panel.cost(`Whole game, ${plural(wanted.length, "position")}: ${summary(cost)}`);
      moves.refresh();
      drawGraph();
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
  const { games, remark } = read(text);
  opened.push(...games);
  const [first] = games;
  if (!first) return;
  enter(first, first.root);
  remember(true);
  notice(games.length > 1 ? `${plural(games.length, "game")} opened: the menu has them all. ${remark ?? ""}` : remark);
}

function notice(text: string | undefined): void {
  byId("notice").textContent = text ?? "";
  byId("notice").hidden = !text;
}

// The menu of games.

const menu = byId<HTMLSelectElement>("games");

function listGames(): void {
  const option = (value: string, text: string) => make("option", { value, selected: value === current() }, text);
  const group = (label: string, options: HTMLElement[]) => (options.length > 0 ? [make("optgroup", { label }, ...options)] : []);
  menu.replaceChildren(
    option("", "Starting position"),
    ...group("Famous games", famous.map((each) => option(each.slug, `${each.title} · ${each.players}`))),
    ...group("Opened", opened.map((each, index) => option(`opened-${index}`, nameOf(each, index)))),
  );
}

const nameOf = (each: Game, index: number): string => players(each.headers) || (each.sourcePlies === 0 ? `Position ${index + 1}` : `Game ${index + 1}`);

const current = (): string => game.slug ?? (opened.includes(game) ? `opened-${opened.indexOf(game)}` : "");

menu.addEventListener("change", () => {
  pick(menu.value);
  // After a mouse's choice the arrow keys should step through the game, not through the menu.
  if (!menu.matches(":focus-visible")) menu.blur();
});

function pick(choice: string): void {
  const next = /^opened-\d+$/.test(choice) ? opened[Number(choice.slice(7))] : choice ? find(choice) : new Game();
  if (!next) return;
  notice(undefined);
  enter(next, next.root);
  remember(true);
}

/** Famous games keep the moves that were tried in them while the page is open. */
const loaded = new Map<string, Game>();

function find(slug: string): Game | undefined {
  const found = loaded.get(slug) ?? famous.find((each) => each.slug === slug)?.load();
  if (found) loaded.set(slug, found);
  return found;
}

/** What stands in place of moves before there are any. */
function offerGames(): HTMLElement {
  const list = make(
    "ul",
    { className: "offers" },
    ...famous.map((each) => {
      const button = make("button", { type: "button", "data-testid": "offer" }, make("span", { className: "title" }, each.title), make("span", { className: "who" }, each.players));
      button.addEventListener("click", () => pick(each.slug));
      return make("li", {}, button);
    }),
  );
  return make("div", {}, make("p", { className: "quiet" }, "Play a move, or step through a famous game:"), list);
}

// The link: stepping rewrites it, opening a game adds a step for the back button.

let writing = 0;
/** The address that is due to be written; browsers refuse addresses that change too often. */
let due: string | undefined;

function remember(push = false): void {
  const fragment = format(game, node);
  const url = fragment ? `#${fragment}` : location.pathname + location.search;
  if (push) {
    settle();
    history.pushState(null, "", url);
  } else {
    due = url;
    window.clearTimeout(writing);
    writing = window.setTimeout(settle, 150);
  }
}

function settle(): void {
  window.clearTimeout(writing);
  if (due !== undefined) history.replaceState(null, "", due);
  due = undefined;
}

window.addEventListener("pagehide", settle);

function restore(): void {
  window.clearTimeout(writing);
  due = undefined;
  const fragment = location.hash.slice(1);
  try {
    const { game: linked, node: at } = parse(fragment, find);
    notice(undefined);
    // A game opened from text is here with its players' names and its variations; a link has only its moves.
    const root = format(linked, linked.root);
    const same = linked.slug ? undefined : opened.find((each) => format(each, each.root) === root);
    if (same) enter(same, path(at).reduce((to, step) => (step.move ? same.play(to, step.move) : to), same.root));
    else {
      if (!linked.slug && !linked.startsAsUsual) opened.push(linked);
      enter(linked, at);
    }
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const fresh = new Game();
    enter(fresh, fresh.root);
    notice(error.message);
  }
}

window.addEventListener("popstate", restore);

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

function describeShelf({ positions, evaluations, bytes }: Manifest): void {
  byId("shelf").textContent = `This database: ${plural(positions, "position")}, ${plural(evaluations, "evaluation")}, ${size(bytes)}.`;
}

restore();
