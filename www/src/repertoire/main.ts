/** My openings: the positions of a player's games next to a book, with evaluations, repeated mistakes and training. */
import "./openings.css";
import type { Color } from "chessops/types";
import type { Played } from "shelfish";
import { bindPreviewEnd } from "../board/board";
import { explain } from "../database/client";
import { bindKeys, moveKeys, keepForOffline } from "../shell/page";
import { setUpBookPage } from "../explorer/book-page";
import {
  Game,
  movesOf,
  path,
  positionKey,
  type Step,
  steps,
} from "../game/game";
import { loadOpenings, showOpening } from "../moves/openings";
import {
  followAddress,
  writeAddress,
  formatLink,
  linkBoard,
} from "../link/link";
import {
  Latest,
  loadOnce,
  reportInputError,
  throttle,
} from "../loading/loading";
import {
  lastPlayer,
  rememberPlayer,
  enteredPlayer,
  type Player,
} from "../players/player";
import { openPlayerStore } from "../players/player-games";
import { byId, make } from "../shell/dom";
import { capitalised, InputError, day, plural } from "../text/words";
import {
  COUNTS,
  formatPlace,
  parsePlace,
  type Place,
  USUAL_COUNT,
  keyOf,
  lineTo,
  type RepeatedMistake,
  repeatedMistakes,
  type Repertoire,
} from "./repertoire";
import { drawMistakes, draw, fill } from "./table";
import { lookUp, prepare, type Prepared } from "./preparation";
import { Trainer } from "./trainer";

const { database, book, state, board, keys } = setUpBookPage(play);
const players = loadOnce(openPlayerStore);
const trainer = new Trainer(
  state,
  database,
  {
    reset: () => board.show(state.node),
    circle: (squares) => board.circle(squares),
    preview: (step, before) => board.preview(step, before),
  },
  drawTrain,
);

const name = byId<HTMLInputElement>("name");
const site = byId<HTMLSelectElement>("site");
const count = byId<HTMLSelectElement>("count");
count.append(
  ...COUNTS.map((each) =>
    make(
      "option",
      { value: String(each), selected: each === USUAL_COUNT },
      plural(each, "game"),
    ),
  ),
);

let side: Color = "white";
let prepared: Prepared | undefined;
let mistakes: readonly RepeatedMistake[] = [];
/** The player of the address, and the number of games. */
let asked: { player: Player; count: number } | undefined;
/** Aborted when another player is shown. */
const preparing = new Latest();
/** Aborted by the next step. */
const looking = new Latest();

const repertoire = (): Repertoire | undefined => prepared?.repertoires[side];

/** Plays a move on the board, or takes it as the answer to a question. */
function play({ move }: Pick<Step, "move">): void {
  if (!trainer.questions.take(move)) state.play(state.node, move);
}

/** Shows the position with a key. */
function show(key: string): void {
  const shown = repertoire();
  if (shown)
    state.play(
      state.game.root,
      ...steps(state.game.root.position, lineTo(shown, key)).map(
        ({ move }) => move,
      ),
    );
  byId("board").scrollIntoView({ block: "nearest" });
}

/** Fetches and reads the games of a player, and looks their positions up. */
async function showPlayer(player: Player, count: number): Promise<void> {
  const signal = preparing.begin();
  asked = { player, count };
  prepared = undefined;
  mistakes = [];
  trainer.questions.close();
  byId("result").hidden = true;
  complain("");
  running(true);
  const changed = throttle(
    400,
    (grown: Prepared) => !signal.aborted && drawPrepared(grown),
  );
  // Screen readers announce each text.
  const progress = throttle(
    1_000,
    ([words, share]: [string, number | undefined]) =>
      !signal.aborted && drawProgress(words, share),
  );
  try {
    const listener = {
      progress: (words: string, share?: number) => progress([words, share]),
      fail: (message: string) =>
        complain(`${byId("error").textContent} ${message}`),
      changed: (grown: Prepared) =>
        changed(grown, grown.isComplete || prepared === undefined),
    };
    const sentence = await prepare(
      player,
      count,
      { store: await players(), database },
      listener,
      signal,
    );
    signal.throwIfAborted();
    progress(["", undefined], true);
    byId("status").textContent = sentence;
    rememberPlayer(player);
    keepForOffline();
  } catch (error) {
    if (signal.aborted) return;
    progress(["", undefined], true);
    complain(
      error instanceof InputError
        ? error.message
        : `The games cannot be read. ${error instanceof Error ? error.message : ""}`,
    );
    if (!(error instanceof InputError)) console.error(error);
  } finally {
    if (!signal.aborted) running(false);
  }
}

/** Shows whether the page works. */
function running(isRunning: boolean): void {
  byId("progress").hidden = !isRunning;
  byId("panel").ariaBusy = String(isRunning);
}

function drawProgress(words: string, share: number | undefined): void {
  byId("status").textContent = words;
  const bar = byId<HTMLProgressElement>("progress");
  if (share === undefined) bar.removeAttribute("value");
  else bar.value = share;
}

function complain(message: string): void {
  byId("error").textContent = message.trim();
  byId("error").hidden = message === "";
}

/** Shows new data of the player. */
function drawPrepared(grown: Prepared): void {
  const isNew = prepared === undefined;
  prepared = grown;
  byId("result").hidden = false;
  if (isNew) {
    const { white, black } = grown.repertoires;
    // A player may have games with one colour only.
    if (grown.repertoires[side].count === 0)
      side = white.count > 0 ? "white" : "black";
    for (const { side, count } of [white, black])
      byId(side).textContent = `${capitalised(side)}: ${plural(count, "game")}`;
    turn();
  } else {
    mistakes = repeatedMistakes(grown.repertoires[side], grown.evaluations);
    drawLists();
    drawScores();
  }
}

/** Shows the repertoire of the side, and turns the board to it. */
function turn(): void {
  const shown = repertoire();
  if (!shown || !prepared) return;
  for (const each of ["white", "black"] as const)
    byId(each).setAttribute("aria-pressed", String(each === side));
  if (board.orientation !== side) board.flip();
  mistakes = repeatedMistakes(shown, prepared.evaluations);
  drawLists();
  void drawPosition();
  write();
}

function drawLists(): void {
  const shown = repertoire();
  if (!shown || !prepared) return;
  drawMistakes(prepared, shown, mistakes, show);
  const deep = [...prepared.evaluations.values()].filter(
    (each) => each !== undefined,
  ).length;
  byId("mistakes-note").textContent =
    mistakes.length > 0
      ? ""
      : prepared.isComplete
        ? `No move that was played at least twice loses much. The database has ${plural(deep, "position")} of ${prepared.evaluations.size.toLocaleString("en")}; shallow evaluations do not count.`
        : "The positions are being looked up…";
  drawTrain();
}

const dueMistakes = () =>
  mistakes.filter((mistake) => trainer.due(mistake) <= Date.now());

/** Offers the questions that are due, or says when the next question is due. */
function drawTrain(): void {
  const { length } = dueMistakes();
  const next = Math.min(...mistakes.map((mistake) => trainer.due(mistake)));
  const button = byId<HTMLButtonElement>("train");
  button.hidden = mistakes.length === 0;
  button.disabled = length === 0;
  if (!button.hidden)
    button.textContent =
      length > 0
        ? `Train ${plural(length, "question")}`
        : `Train again from ${day(next)}`;
}

/** Draws the table of the position on the board: the own games first, then the book, then the evaluations. */
async function drawPosition(): Promise<void> {
  const signal = looking.begin();
  const shown = repertoire();
  if (!shown || !prepared) return;
  const { evaluations } = prepared;
  const { node } = state;
  const key = positionKey(node);
  const actions = {
    play,
    show: (step: Step) => board.preview(step, node.position),
  };
  const redrawTable = (answer: Played | undefined) => {
    draw(node, key, shown, answer, actions);
    byId("empty").textContent = byId("played").hidden
      ? "No game of the player and of the book has a move from this position."
      : "";
    drawScores();
  };
  redrawTable(undefined);
  let answer: Played | undefined;
  try {
    answer = await book.moves(node.fen, signal);
    if (signal.aborted) return;
    redrawTable(answer);
  } catch {
    // The comparison with the book reports the error.
    if (signal.aborted) return;
  }
  const keys = [
    ...byId("played-moves").querySelectorAll<HTMLElement>("[data-uci]"),
  ].flatMap(({ dataset }) => nextKey(dataset.uci ?? "") ?? []);
  try {
    for await (const { scores } of lookUp(
      database,
      keys.filter((each) => !evaluations.has(each)),
      signal,
    ))
      for (const [each, score] of scores) evaluations.set(each, score);
    if (!signal.aborted) drawScores();
  } catch {
    // The lookup of all positions reports the error.
  }
}

/** Returns the key of the position after a move from the position on the board. */
function nextKey(move: string): string | undefined {
  const [step] = steps(state.node.position, [move]);
  return step && keyOf(step.position);
}

function drawScores(): void {
  const key = positionKey(state.node);
  fill(
    (move) => prepared?.evaluations.get(nextKey(move) ?? ""),
    mistakes.filter((each) => each.key === key),
  );
}

/** Writes the player and the position to the address, and the position to the link to the analysis board. */
function write(): void {
  const line = movesOf(path(state.node));
  if (asked) writeAddress(formatPlace({ ...asked, side, line }));
  linkBoard(formatLink(state.game, state.node));
}

/** Shows the place of the address. */
function restore(fragment: string): void {
  const place: Place = parsePlace(fragment);
  side = place.side;
  const { player } = place;
  if (player) {
    name.value = player.name;
    site.value = player.site;
    count.value = String(place.count);
  }
  const isSame =
    player &&
    asked?.player.site === player.site &&
    asked.player.name.toLowerCase() === player.name.toLowerCase() &&
    asked.count === place.count;
  if (player && !isSame) asked = { player, count: place.count };
  const game = new Game();
  let node = game.root;
  for (const { move } of steps(game.root.position, place.line))
    node = game.play(node, move);
  state.enter(game, node);
  if (isSame) turn();
  else if (player) void showPlayer(player, place.count);
}

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  void reportInputError(async () => {
    const player: Player = {
      site: site.value as Player["site"],
      ...enteredPlayer(name.value),
    };
    [name.value, site.value] = [player.name, player.site];
    asked = { player, count: Number(count.value) };
    writeAddress(formatPlace({ ...asked, side, line: [] }), true);
    state.enter(new Game());
    await showPlayer(player, asked.count);
  }, complain);
});
for (const each of ["white", "black"] as const) {
  byId(each).addEventListener("click", () => {
    if (side === each) return;
    trainer.questions.close();
    side = each;
    state.go(state.game.root);
    turn();
  });
}
byId("train").addEventListener("click", () => {
  const shown = repertoire();
  if (shown)
    trainer.start(shown, dueMistakes()).catch((error: unknown) => {
      const { title, advice } = explain(error);
      complain(`${title} ${advice}`);
    });
});
state.on(({ node }) => {
  if (!node) return;
  write();
  void drawPosition();
});
loadOpenings().then(
  () => showOpening(state),
  () => {},
);

bindPreviewEnd(byId("played-moves"), () => board.preview());
bindKeys({ ...keys, ...moveKeys("played-moves") });

const known = lastPlayer();
if (known) [name.value, site.value] = [known.name, known.site];
followAddress(restore);
