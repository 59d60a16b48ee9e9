/** The page "Play": connects board, opponent, clock and moves. */
import type { NormalMove } from "chessops/types";
import { opposite } from "chessops/util";
import { Board } from "../board/board";
import { byId, disable, make, showFieldError } from "../shell/dom";
import { positionOf } from "../game/fen";
import { Game, lineFrom, moveNumber, type Node } from "../game/game";
import { bindKeys } from "../shell/keyboard";
import { keepForOffline } from "../shell/offline";
import { toPgn } from "../pgn/write-game";
import { endgamesUrl } from "../settings/data-urls";
import { applyAppearance, load } from "../settings/settings";
import { bindTheme } from "../shell/theme";
import { parsePremove, premoveText } from "./premove";
import { parseMove } from "../pgn/typed-move";
import { drawMaterial } from "../board/material";
import { shown as time } from "./clock";
import { DRAW_INTERVAL } from "./draw-offer";
import { Match } from "./match";
import type { Moment } from "./moments";
import { Opponent } from "./opponent";
import * as setup from "./setup";
import * as sheet from "./sheet";
import { restore, store } from "./stored";
import { verdict } from "./verdict";
import { messageOf } from "../text/input-error";
import { day } from "../text/units";
import { decodeUri } from "../text/uri";
import { levelName, type Terms } from "./terms";

/** Milliseconds between two updates of the clock, and the limit below which a time is low. */
const TICK = 100;
const LOW = 20_000;

/** Buttons that ask for confirmation, with their labels. */
const LABELS = {
  resign: ["Resign", "Really resign?"],
  draw: ["Offer a draw", "Really offer?"],
} as const;
const CONFIRMED = ["resign", "draw"] as const;

const settings = load();
applyAppearance(settings);
bindTheme();

const now = (): number => performance.now();
const today = (): string => day(Date.now()).replaceAll("-", ".");

const opponent = new Opponent(endgamesUrl(settings.endgames), settings.cache);
const board = new Board(playMove, undefined, premove);
let match: Match | undefined;
/** The position on the board, which may be an earlier position. */
let shown: Node = new Game().root;
/** The move that is played after the engine's move. */
let planned: NormalMove | undefined;
/** Aborts the engine's search. */
let working = new AbortController();
/** Aborts the analysis of a finished game. */
let analysing = new AbortController();

// Views.

function show(node: Node): void {
  shown = node;
  const isLast = node === match?.node;
  const isMine = match?.isMine === true;
  board.show(
    node,
    isLast && isMine,
    undefined,
    isLast && !isMine && !match?.outcome,
  );
  if (isLast && planned) board.markPremove(planned);
  board.arrows([], node.position);
  board.threat(undefined, undefined);
  if (match) sheet.draw(match.node, node);
}

function showStatus(text: string): void {
  byId("status").textContent = text;
}

/** Describes the last move, and says whose turn it is. */
function describe(): void {
  if (!match) return;
  const { node, outcome } = match;
  const last = node.parent
    ? `${moveNumber(node.parent.position)} ${node.san} `
    : "";
  if (outcome) {
    const result = outcome.result.replace("1/2-1/2", "½–½").replace("-", "–");
    return showStatus(`${outcome.reason}. ${result}`);
  }
  const check = node.position.isCheck() ? "Check. " : "";
  const source =
    opponent.isFromBook && match.isMine && node.parent ? " (book)" : "";
  const next = planned
    ? ` Premove: ${premoveText(node.position, planned)}.`
    : "";
  showStatus(
    match.isMine
      ? `${last}${check}Your move${source}.`
      : `${last}Shelfish is thinking…${next}`,
  );
}

function updateControls(): void {
  const isOver = match?.outcome !== undefined;
  const left = document.activeElement?.closest("#setup, #during, #after");
  setup.toggle(!match);
  byId("game").hidden = !match;
  byId("during").hidden = isOver;
  byId("after").hidden = !isOver;
  // The focus moves to the controls that replace the hidden controls.
  if (left?.closest("[hidden]"))
    byId(!match ? "level" : isOver ? "analyse" : "flip").focus({
      preventScroll: true,
    });
  if (!match) return;
  for (const id of ["back", "undo"])
    disable(
      byId(id),
      !match.canTakeBack,
      byId(id === "back" ? "flip" : "again"),
    );
  disable(byId("hint"), !match.isMine, byId("flip"));
  disable(byId("draw"), !match.canOfferDraw, byId("flip"));
  byId("draw").title =
    match.isMine && !match.canOfferDraw
      ? `You can offer a draw again ${DRAW_INTERVAL} moves after the last offer`
      : "Offer a draw on your move";
  // A move of the engine must not take back the first press of a player who resigns.
  if (!isOver) return;
  for (const id of CONFIRMED) byId(id).textContent = LABELS[id][0];
  const { title, text } = verdict(match);
  byId("verdict").replaceChildren(
    make("strong", {}, title),
    make("span", {}, text),
  );
  byId<HTMLAnchorElement>("analyse").href =
    `./#pgn=${encodeURIComponent(toPgn(match.game, "compact"))}&side=${match.terms.side}`;
}

function clocks(): void {
  const below = board.orientation;
  for (const [id, side] of [
    ["below", below],
    ["above", opposite(below)],
  ] as const) {
    const strip = byId(id);
    const isPerson = side === (match?.terms.side ?? below);
    const name = isPerson
      ? "You"
      : match
        ? `Shelfish · ${levelName(match.terms.elo)}`
        : "Shelfish";
    const [label, material, clock] = strip.children as unknown as [
      HTMLElement,
      HTMLElement,
      HTMLElement,
    ];
    drawMaterial(material, shown.position, side);
    if (label.textContent !== name) label.textContent = name;
    clock.hidden = !match?.clock;
    if (!match?.clock) continue;
    const left = match.clock.left(side, now());
    const text = time(left);
    if (clock.textContent !== text) clock.textContent = text;
    clock.ariaLabel = isPerson ? "Your time" : "Engine’s time";
    clock.classList.toggle("running", match.clock.running === side);
    clock.classList.toggle("low", left < LOW);
  }
}

function tick(): void {
  if (!match?.clock) return;
  if (match.flag(now())) changed();
  else clocks();
}

/** Updates the page after a change of the game, and lets the engine answer. */
function changed(): void {
  working.abort();
  planned = undefined;
  if (!match) return;
  store(match, now());
  learn(match);
  show(match.node);
  clocks();
  updateControls();
  describe();
  analyse();
  if (!match.outcome && !match.isMine) void answer(match);
}

/** Analyses a finished game. The analysis ends if the game continues or another game begins. */
function analyse(): void {
  analysing.abort();
  byId("moments").hidden = true;
  if (!match?.outcome) return;
  const at = match;
  const { signal } = (analysing = new AbortController());
  void import("./moments").then(
    ({ showMoments }) => showMoments(at, settings, showMoment, signal),
    () => {},
  );
}

/** Shows the position before a bad move, with the move and a better move. */
function showMoment({ node, better, lost }: Moment): void {
  const { parent, move } = node;
  if (!parent || !move) return;
  show(parent);
  board.arrows([better], parent.position);
  board.threat({ ...better, move }, parent.position);
  showStatus(
    `${better.number} ${node.san} (red) lost ${lost} % of the winning chances. Better: ${better.number} ${better.san} (green).`,
  );
}

/** Games that were learned. A game is not learned again if it continues after its end was taken back. */
const learned = new WeakSet<Match>();

function learn(at: Match): void {
  if (!at.outcome || !at.terms.book || learned.has(at)) return;
  learned.add(at);
  void import("./own-book").then(
    ({ learn }) => learn(at),
    () => {},
  );
}

// Actions.

function begin(terms: Terms, kept?: Match): void {
  match = kept ?? new Match(terms, today());
  if (board.orientation !== terms.side) board.flip();
  match.resume(now());
  changed();
  if (match.isMine) opponent.load().catch(failed);
}

function playMove(move: NormalMove): void {
  if (!match?.isMine || !match.play(move, now())) return;
  playSound();
  changed();
}

/** Plans a move for the time after the engine's move, or cancels it. */
function premove(move: NormalMove | undefined): void {
  if (!match || match.isMine || match.outcome) return;
  planned = move;
  describe();
}

function cancelPremove(): void {
  if (!planned) return;
  board.markPremove();
  premove(undefined);
}

/** Plays the premove, or says that it is not legal. */
function playPremove(move: NormalMove, text: string): void {
  if (!match?.isMine) return;
  if (match.node.position.isLegal(move)) return playMove(move);
  showStatus(`${byId("status").textContent} The premove ${text} is not legal.`);
}

async function answer(at: Match): Promise<void> {
  const { signal } = (working = new AbortController());
  byId("error").hidden = true;
  try {
    const move = await opponent.reply(at, signal);
    const before = at.node.position;
    if (signal.aborted || !at.play(move, now())) return;
    const next = planned;
    playSound();
    changed();
    if (next) playPremove(next, premoveText(before, next));
  } catch (error) {
    if (!signal.aborted) failed(error);
  }
}

/** Shows that the engine failed. The clock stops until the user tries again. */
function failed(error: unknown): void {
  match?.clock?.stop(now());
  clocks();
  byId("error").firstElementChild?.replaceChildren(
    `The engine could not be loaded: ${messageOf(error)}`,
  );
  byId("error").hidden = false;
}

function retry(): void {
  byId("error").hidden = true;
  match?.resume(now());
  if (match && !match.isMine) void answer(match);
  else opponent.load().catch(failed);
}

function takeBack(): void {
  match?.takeBack(now());
  changed();
}

async function hint(): Promise<void> {
  if (!match?.isMine) return;
  working.abort();
  const { signal } = (working = new AbortController());
  show(match.node);
  showStatus("Looking for a hint…");
  try {
    const step = await opponent.hint(match, signal);
    if (signal.aborted) return;
    board.arrows([step], match.node.position);
    showStatus(`Hint: ${step.number} ${step.san}`);
  } catch (error) {
    if (!signal.aborted) failed(error);
  }
}

/** Returns whether a press of the button is the second. The first press asks for confirmation. */
function isConfirmed(id: keyof typeof LABELS): boolean {
  const [usual, question] = LABELS[id];
  const isSecond = byId(id).textContent === question;
  byId(id).textContent = isSecond ? usual : question;
  return isSecond;
}

function resign(): void {
  if (!isConfirmed("resign")) return;
  match?.resign(now());
  changed();
}

async function offerDraw(): Promise<void> {
  if (!match?.canOfferDraw || !isConfirmed("draw")) return;
  const at = match;
  at.offerDraw();
  store(at, now());
  working.abort();
  const { signal } = (working = new AbortController());
  show(at.node);
  updateControls();
  disable(byId("hint"), true, byId("flip"));
  showStatus("Shelfish considers the draw…");
  try {
    const answer = await opponent.answerDraw(at, signal);
    if (signal.aborted || !at.isMine) return;
    if (answer.isAccepted) at.agreeDraw(now());
    else showStatus(`Shelfish declines the draw: ${answer.reason}.`);
    if (answer.isAccepted) changed();
    else updateControls();
  } catch (error) {
    if (!signal.aborted) failed(error);
  }
}

function rematch(): void {
  if (match) begin({ ...match.terms, side: opposite(match.terms.side) });
}

function chooseOpponent(): void {
  working.abort();
  const { terms } = match ?? {};
  match = undefined;
  analyse();
  setup.fill(terms, terms?.fen ?? "");
  showStatus("Choose an opponent.");
  preview(terms?.fen);
  clocks();
  updateControls();
}

/** Shows the start position of a game. */
function preview(fen: string | undefined): void {
  show(new Game(fen === undefined ? undefined : positionOf(fen)).root);
}

function flip(): void {
  board.flip();
  clocks();
}

function playSound(): void {
  if (match && settings.sounds)
    void import("../board/sounds").then(
      ({ play }) => play(match?.node.san ?? ""),
      () => {},
    );
}

const step = (node: Node | undefined): void =>
  void (match && node && show(node));
const typed = byId<HTMLInputElement>("move");
const typedError = byId("move-error");
typed.addEventListener("input", () => showFieldError(typed, typedError, ""));
typed.addEventListener("keydown", (event) => {
  if (event.key === "Escape") typed.blur();
  if (event.key !== "Enter" || !match || typed.value.trim() === "") return;
  // The last move moves the focus. Firefox would press the link that gets the focus.
  event.preventDefault();
  const { isMine, node } = match;
  const move = (isMine ? parseMove : parsePremove)(node.position, typed.value);
  if (!move) {
    const text = typed.value.trim().slice(0, 12);
    return showFieldError(
      typed,
      typedError,
      isMine
        ? `${text} is not legal`
        : `It is not your move, and ${text} cannot be a premove`,
    );
  }
  typed.value = "";
  if (isMine) return playMove(move);
  premove(move);
  show(node);
});

for (const [id, action] of Object.entries({
  back: takeBack,
  undo: takeBack,
  hint,
  flip,
  draw: offerDraw,
  resign,
  again: rematch,
  new: chooseOpponent,
  retry,
}))
  byId(id).addEventListener("click", () => void action());
for (const id of CONFIRMED)
  byId(id).addEventListener(
    "blur",
    () => (byId(id).textContent = LABELS[id][0]),
  );
bindKeys({
  ArrowLeft: () => step(shown.parent),
  ArrowRight: () => step(shown.children[0]),
  Home: () => step(match?.game.root),
  End: () => step(match && lineFrom(match.game.root).at(-1)),
  f: flip,
  h: () => void hint(),
  t: () => match && takeBack(),
  n: () => match?.outcome && chooseOpponent(),
  Escape: cancelPremove,
  m: () => typed.select(),
});
sheet.bind(step);
setup.bind(begin, preview);
setInterval(tick, TICK);
addEventListener("hashchange", start);
start();
keepForOffline();

/** The address has priority over the game that was left. */
function start(): void {
  const asked = /^#fen=(.+)$/.exec(location.hash)?.[1];
  const { terms, match: left } = restore(today());
  if (left && terms && asked === undefined) return begin(terms, left);
  const fen = decodeUri(asked ?? "").replaceAll("_", " ");
  chooseOpponent();
  setup.fill(terms, fen);
  try {
    preview(fen || undefined);
  } catch {
    preview(undefined);
  }
}
