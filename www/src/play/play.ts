/** The page "Play": connects board, opponent and moves. */
import { bindSetup, bindSheet, drawSheet, fillSetup } from "./setup";
import type { NormalMove } from "chessops/types";
import { opposite } from "chessops/util";
import { Board } from "../board/board";
import { byId, disable, make, showFieldError } from "../shell/dom";
import { positionOf } from "../game/fen";
import { Game, lineFrom, moveNumber, type Node } from "../game/game";
import { bindClicks, bindKeys, bindTheme, keepForOffline } from "../shell/page";
import { typedMove } from "../game/read-pgn";
import { toPgn } from "../game/write-pgn";
import { Latest } from "../loading/loading";
import { drawMaterial } from "../board/players";
import { applyPieces } from "../settings/settings";
import { Match, restore, store, verdict } from "./match";
import { Opponent } from "./opponent";
import { decodeUri, messageOf, day } from "../text/words";
import { levelName, type Terms } from "./terms";

/** Labels of the buttons that ask again: at first, and before the second press. */
const LABELS = {
  resign: ["Resign", "Really resign?"],
  draw: ["Offer a draw", "Really offer?"],
} as const;
const CONFIRMED = ["resign", "draw"] as const;

bindTheme();
applyPieces();

const today = (): string => day(Date.now()).replaceAll("-", ".");

const opponent = new Opponent();
const board = new Board(playMove);
let match: Match | undefined;
/** The position on the board, which may be an earlier position. */
let shown: Node = new Game().root;
/** Aborts the engine's search. */
const working = new Latest();

// Views.

function show(node: Node): void {
  shown = node;
  board.show(
    node,
    node === match?.node && (match.isMine || (!match.outcome && "later")),
  );
  board.arrows([], node.position);
  if (match) drawSheet(match.node, node);
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
  showStatus(
    match.isMine
      ? `${last}${check}Your move${source}.`
      : `${last}Shelfish is thinking…`,
  );
}

function updateControls(): void {
  const isOver = match?.outcome !== undefined;
  const left = document.activeElement?.closest("#setup, #during, #after");
  byId("setup").hidden = match !== undefined;
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
  for (const id of ["hint", "draw"])
    disable(byId(id), !match.isMine, byId("flip"));
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

function players(): void {
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
    const [label, material] = strip.children as unknown as [
      HTMLElement,
      HTMLElement,
    ];
    drawMaterial(material, shown.position, side);
    if (label.textContent !== name) label.textContent = name;
  }
}

/** Updates the page after a change of the game, and lets the engine answer. */
function changed(): void {
  working.abort();
  if (!match) return;
  store(match);
  show(match.node);
  players();
  updateControls();
  describe();
  if (!match.outcome && !match.isMine) void answer(match);
}

// Actions.

function begin(terms: Terms, kept?: Match): void {
  match = kept ?? new Match(terms, today());
  if (board.orientation !== terms.side) board.flip();
  changed();
  if (match.isMine) opponent.load().catch(failed);
}

function playMove(move: NormalMove): void {
  if (!match?.isMine || !match.play(move)) return;
  changed();
}

async function answer(at: Match): Promise<void> {
  const signal = working.begin();
  byId("error").hidden = true;
  try {
    const move = await opponent.reply(at, signal);
    if (signal.aborted || !at.play(move)) return;
    changed();
    board.playPremove();
  } catch (error) {
    if (!signal.aborted) failed(error);
  }
}

/** Shows that the engine failed. */
function failed(error: unknown): void {
  byId("error").firstElementChild?.replaceChildren(
    `The engine could not be loaded: ${messageOf(error)}`,
  );
  byId("error").hidden = false;
}

function retry(): void {
  byId("error").hidden = true;
  if (match && !match.isMine) void answer(match);
  else opponent.load().catch(failed);
}

function takeBack(): void {
  match?.takeBack();
  changed();
}

async function hint(): Promise<void> {
  if (!match?.isMine) return;
  const signal = working.begin();
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

/** Returns whether a press of the button is the second. */
function isConfirmed(id: keyof typeof LABELS): boolean {
  const [usual, question] = LABELS[id];
  const isSecond = byId(id).textContent === question;
  byId(id).textContent = isSecond ? usual : question;
  return isSecond;
}

function resign(): void {
  if (!isConfirmed("resign")) return;
  match?.resign();
  changed();
}

async function offerDraw(): Promise<void> {
  if (!match?.isMine || !isConfirmed("draw")) return;
  const at = match;
  const signal = working.begin();
  showStatus("Shelfish considers the draw…");
  try {
    const isAgreed = await opponent.agreesToDraw(at, signal);
    if (signal.aborted) return;
    if (!isAgreed) return showStatus("Shelfish declines the draw.");
    at.agreeDraw();
    changed();
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
  fillSetup(terms, terms?.fen ?? "");
  showStatus("Choose an opponent.");
  preview(terms?.fen);
  players();
  updateControls();
}

/** Shows the start position of a game. */
function preview(fen: string | undefined): void {
  show(new Game(fen === undefined ? undefined : positionOf(fen)).root);
}

function flip(): void {
  board.flip();
  players();
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
  void enter(match.node, typed.value);
});

async function enter(node: Node, text: string): Promise<void> {
  const move = match?.isMine && (await typedMove(node.position, text));
  // The game may have gone on.
  if (!match || match.node !== node) return;
  if (!move)
    return showFieldError(
      typed,
      typedError,
      match.isMine
        ? `${text.trim().slice(0, 12)} is not legal`
        : "It is not your move",
    );
  typed.value = "";
  playMove(move);
}

bindClicks({
  back: takeBack,
  undo: takeBack,
  hint,
  flip,
  draw: offerDraw,
  resign,
  again: rematch,
  new: chooseOpponent,
  retry,
});
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
  m: () => typed.select(),
});
bindSheet(step);
bindSetup(begin, preview);
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
  fillSetup(terms, fen);
  try {
    preview(fen || undefined);
  } catch {
    preview(undefined);
  }
}
