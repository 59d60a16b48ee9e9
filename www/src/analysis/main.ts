/** The analysis board (index.html): creates its parts and connects them. */
import type { Key } from "@lichess-org/chessground/types";
import type { Color, NormalMove } from "chessops/types";
import { Board } from "../board/board";
import { byId, copy } from "../shell/dom";
import { type InputError, plural, size } from "../text/words";
import { DatabaseClient } from "../database/client";
import type { Questions } from "../learn/questions";
import { EvaluationPanel } from "../evaluation/evaluation-panel";
import type { GameParts } from "./game-parts";
import { Game, type Node } from "../game/game";
import type { LineActions } from "../evaluation/lines";
import {
  bindClicks,
  bindKeys,
  bindTheme,
  keepForOffline,
  restrictConnections,
} from "../shell/page";
import { Lookups } from "../evaluation/lookups";
import {
  applyAppearance,
  bookUrl,
  change,
  endgamesUrl,
  load,
  manifestUrl,
  PANELS,
} from "../settings/settings";
import { players } from "../game/identity";
import {
  bindGestures,
  bindTyped,
  navigation,
  updateStepButtons,
} from "../moves/navigation";
import { notice } from "../games/notice";
import {
  whenIdle,
  whenVisible,
  loadOnce,
  loadPart,
  reportInputError,
} from "../loading/loading";
import { bindOpen } from "../games/open-controls";
import type { Open } from "../games/open-dialog";
import { nameOpenings } from "../moves/openings";
import { Players } from "../board/players";
import { State } from "../state/state";

const settings = load();
applyAppearance(settings);
const client = new DatabaseClient(manifestUrl());
const tables = endgamesUrl();
restrictConnections(client.url, bookUrl(), tables);
client.onAnswer = ({ bytes, requests }) => {
  byId("totals").textContent =
    `${size(bytes)}, ${plural(requests, "request")}, no server`;
};
// The module and the manifest load in parallel with the setup. The first lookup reports a failure.
client.open().then(describeDatabase, () => {});

const state = new State();
/** Whether the address names no game. Then the parts of a game load after the first evaluation. */
const isEmpty = location.hash.length <= 1;

// Views draw in this order.
/** Asks questions about the mistakes of the game, once its part of the page is loaded. */
let learn: Questions | undefined;
const play = (node: Node, move: NormalMove) => {
  if (node !== state.node || !learn?.take(move)) state.play(node, move);
};
const board = new Board((move) => play(state.node, move));
const preview: LineActions["preview"] = (step, before) =>
  board.preview(step, before);
board.showsLines = settings.evaluations;
state.on(({ node }) => node && board.show(state.node));
new EvaluationPanel(
  state,
  {
    preview,
    arrows: (first) =>
      learn?.isAsking || board.arrows(first, state.node.position),
    retry: () => lookups.retry(),
    positions: () => client.manifest?.positions,
    lines: (lines) => {
      change({ lines });
      gameParts?.engineSearch.set({ lines });
    },
  },
  settings,
);
const sides = new Players(state);
nameOpenings(state);
state.on(({ game, node, edited }) => {
  if (game) title(state.game);
  if (node) controls(state.node);
  if (edited) offerUndo();
});
const lookups = new Lookups(state, client);
/** The parts of a game, once they are loaded. */
let gameParts: GameParts | undefined;
const loadGameParts = loadOnce(
  async () =>
    (gameParts = (await loadPart(import("./game-parts"))).createGameParts(
      state,
      lookups,
      preview,
      tables,
      load(),
      { notice, turn },
      isEmpty,
    )),
);
// These parts load after the first evaluation.
const loadPanels = loadOnce(async () => {
  const parts = [
    loadGameParts(),
    import("../report/report-panel"),
    import("../learn/learn"),
  ] as const;
  const [{ reporter }, { ReportPanel }, { learnFrom }] =
    await Promise.all(parts);
  new ReportPanel(state, reporter, load());
  const ofPage = {
    get side() {
      return board.orientation;
    },
    turn,
    reset: () => board.show(state.node),
    circle: (squares: readonly Key[]) => board.circle(squares),
    preview,
  };
  learn = learnFrom(state, client, () => reporter.judge, ofPage);
});
state.on(({ known, status, tree }) => {
  if (tree && state.game.root.children.length > 0)
    loadGameParts().catch(() => {});
  if (known) {
    describeDatabase();
    keepForOffline();
  }
  // The evaluation is painted first.
  if (known || (status && state.status.error))
    whenIdle(() => void loadPanels().catch(() => {}));
});

const openInput: Open = async (input, correct) =>
  (await loadGameParts()).session.open(input, correct);
const open = bindOpen(openInput, notice);
bindTheme();
const selectPanel = bindPanelTabs();
const loadExplorer = loadOnce(async () => {
  const { bindExplorerTab } = await import("../explorer/panel");
  bindExplorerTab(state, client, {
    play: (from, { move }) => play(from, move),
    preview,
  });
});
whenVisible(
  byId("explorer"),
  (isVisible) => isVisible && loadExplorer().catch(() => {}),
);

function title(game: Game): void {
  const names = players(game.headers);
  document.title = `${names || "Shelfish"} · ${names ? "Shelfish" : "chess evaluations off the shelf"}`;
}

function controls(node: Node): void {
  updateStepButtons(node);
  byId<HTMLAnchorElement>("play").href =
    `./play.html#fen=${node.fen.replaceAll(" ", "_")}`;
}

/** Shows the last change of the variations with a button that undoes it; if all are undone, a button that redoes the last one. */
function offerUndo(): void {
  const words = state.lastEdit;
  if (words) notice(words, [], { label: "Undo", does: () => state.undo() });
  else if (state.canRedo)
    notice("Undone.", [], { label: "Redo", does: () => state.redo() });
  else notice("");
}

const steps = navigation(state);
const flip = () => {
  const below = board.flip();
  byId("bar").classList.toggle("flipped", below === "black");
  sides.turn(below);
};
const { first, previous, next, last } = steps;
bindGestures(steps);
const turn = (side: Color) => void (side !== board.orientation && flip());
const stored = () =>
  void reportInputError(
    async () => (await loadGameParts()).session.list(),
    notice,
  );
bindClicks({
  first,
  previous,
  next,
  last,
  flip,
  stored,
});

// Dialogs load when they are opened.
const onDemand = (work: () => Promise<unknown>) => () =>
  void reportInputError(work, notice);
const help = onDemand(async () =>
  (await loadPart(import("../settings/dialogs"))).showHelp(),
);
const share = onDemand(async () =>
  (await loadPart(import("../games/share-dialog"))).showShare(
    state,
    () => location.href,
    async (pgn) => (await loadGameParts()).reporter.annotated(pgn),
  ),
);
const settingsDialog = onDemand(async () =>
  (await loadPart(import("../settings/dialogs"))).showSettings(
    setEngines,
    toggleEvaluations,
  ),
);
const setEngines: Parameters<
  (typeof import("../settings/dialogs"))["showSettings"]
>[0] = (settings) => {
  change(settings);
  gameParts?.engineSearch.set(settings);
  gameParts?.reporter.set(settings);
};
const setUp = onDemand(async () =>
  (await loadPart(import("../board/editor-dialog"))).showEditor(
    state.node.fen,
    board.orientation,
    (fen) => void reportInputError(() => openInput(fen, () => {}), notice),
  ),
);
const toggleEvaluations = () => {
  const { evaluations } = load();
  change({ evaluations: !evaluations });
  board.showsLines = !evaluations;
};
bindClicks({
  help,
  "set-up": setUp,
  share,
  settings: settingsDialog,
});
bindKeys({
  ArrowLeft: previous,
  ArrowRight: next,
  ArrowUp: () => steps.choose(-1),
  ArrowDown: () => steps.choose(1),
  "Shift+ArrowLeft": steps.leave,
  "Shift+ArrowRight": steps.enter,
  Home: first,
  End: last,
  " ": () =>
    learn?.isAsking ||
    document.querySelector<HTMLElement>("#lines .line button")?.click(),
  ...judgmentKeys(),
  s: setUp,
  h: toggleEvaluations,
  t: () => selectPanel("explorer"),
  f: flip,
  Enter: bindTyped(state, play),
  o: open,
  g: stored,
  c: () =>
    void copy(state.node.fen).then((done) => done && notice("FEN copied.")),
  p: onDemand(
    async () =>
      (await copy(
        (await loadPart(import("../game/write-pgn"))).toPgn(state.game),
      )) && notice("PGN copied."),
  ),
  "Ctrl+z": () => state.undo(),
  "Ctrl+Shift+z": () => state.redo(),
  "Ctrl+y": () => state.redo(),
  "?": help,
});

/** Returns the keys that go to the next inaccuracy, mistake or blunder; with Shift to the previous one. */
function judgmentKeys(): Record<string, () => void> {
  const keys = ["i", "m", "b"].flatMap((letter) =>
    (
      [
        [letter, 1],
        [`Shift+${letter}`, -1],
      ] as const
    ).map(([key, by]) => [key, () => gameParts?.goToBadMove(letter, by)]),
  );
  return Object.fromEntries(keys);
}

function describeDatabase(): void {
  if (!client.manifest) return;
  const { positions, bytes } = client.manifest;
  byId("database").textContent =
    `${plural(positions, "position")}, ${size(bytes)}`;
}

if (isEmpty) state.enter(new Game());
else
  loadGameParts().catch(({ message }: InputError) => {
    state.enter(new Game());
    notice(message);
  });

/** Binds the tabs. A wide page shows the moves next to the panel that was selected last, others begin with the moves. Returns the function that selects a tab. */
function bindPanelTabs(): (id: string) => void {
  // As in layout.css.
  const wide = matchMedia(
    "(min-width: 1340px) and (min-height: 501px) and (min-aspect-ratio: 3/2)",
  );
  const buttons = [
    ...document.querySelectorAll<HTMLButtonElement>("#more [data-shows]"),
  ];
  const show = (shown: string) => {
    for (const button of buttons) {
      button.setAttribute(
        "aria-pressed",
        String(button.dataset.shows === shown),
      );
      byId(button.dataset.shows ?? "").classList.toggle(
        "shown",
        button.dataset.shows === shown,
      );
    }
  };
  const select = (id: string) => {
    show(id);
    const panel = PANELS.find((each) => each === id);
    if (panel) change({ panel });
  };
  for (const button of buttons)
    button.addEventListener("click", () => select(button.dataset.shows ?? ""));
  const fit = () => show(wide.matches ? load().panel : "moves");
  wide.addEventListener("change", fit);
  fit();
  return select;
}
