/** The moves that games played from the position on the board, with filters, results, evaluations and games. */
import "./played.css";
import type { Played } from "shelfish";
import { BookClient, StatusLine } from "../book/client";
import { absentText, contentText, games } from "../book/results";
import { bindPreviewEnd } from "../board/board";
import type { Position } from "chessops/chess";
import type { Node, Step } from "../game/game";
import { loadOpenings, showOpening } from "../moves/openings";
import { Latest, nextTask, whenVisible } from "../loading/loading";
import { byId } from "../shell/dom";
import { keepForOffline, bindKeys, digitKeys } from "../shell/page";
import type { State } from "../state/state";
import { BucketChoice } from "./buckets";
import { drawReferences } from "./references";
import { draw, fill } from "./table";
import type { DatabaseClient } from "../database/client";
import { bookUrl } from "../settings/settings";

/** The page around the panel. */
interface PanelPage {
  play(from: Node, step: Pick<Step, "move">): void;
  /** Shows a move on the board; without a move, shows the position of the board again. */
  preview(step?: Step, before?: Position): void;
  /** Address of the analysis board: "./", or empty on the analysis board. */
  boardUrl: "./" | "";
  /** Whether the filters are open at first. */
  opensFilters: boolean;
}

export class ExplorerPanel {
  readonly #choice: BucketChoice;
  readonly #asking = new Latest();
  /** Shows the scores that are known now. */
  #refill: (() => void) | undefined;

  constructor(
    private readonly state: State,
    private readonly book: BookClient,
    private readonly status: StatusLine,
    private readonly page: PanelPage,
  ) {
    this.#choice = new BucketChoice(() => void this.ask(), page.opensFilters);
    bindPreviewEnd(byId("played-moves"), () => page.preview());
    // The page shows one score of a position.
    state.on(({ known }) => known && this.#refill?.());
  }

  /** Aborts the lookup, and marks the moves as those of another position. */
  leave(): void {
    this.#asking.abort();
    this.#refill = undefined;
    byId("played").classList.add("stale");
  }

  /** Looks up the position on the board. Draws the counts first, then the evaluations. */
  async ask(): Promise<void> {
    this.leave();
    const signal = this.#asking.begin();
    const { book, page, state, status } = this;
    const { node } = state;
    const actions = {
      play: (step: Step) => page.play(node, step),
      show: (step: Step) => page.preview(step, node.position),
    };
    try {
      const played = await status.waitFor(this.#moves(node, signal));
      if (signal.aborted) return;
      draw(node, played, actions);
      void drawReferences(played, node, page.boardUrl);
      status.ready();
      byId("played").classList.remove("stale");
      status.show(
        played.moves.length > 0
          ? ""
          : this.#noMovesText(games(played.ended) > 0),
      );
      this.#describe();
      keepForOffline();
      // Lets the browser paint the counts before the work that follows.
      await nextTask();
      if (signal.aborted) return;
      // The table works without opening names and evaluations.
      const named = loadOpenings()
        .then(nextTask)
        .then(() => showOpening(state))
        .catch(() => {});
      const { moves } = await book.explore(
        node.fen,
        signal,
        this.#choice.chosen,
      );
      await named.then(nextTask);
      if (signal.aborted) return;
      this.#refill = () => fill(moves, node, state);
      this.#refill();
    } catch (error) {
      if (signal.aborted) return;
      if (!byId("played").classList.contains("stale"))
        return void status.show("The evaluations cannot be looked up now.");
      for (const id of ["played", "book-games"]) byId(id).hidden = true;
      status.showError(error, () => void this.ask());
    }
  }

  /** Returns the moves of the chosen games. The open book says which games can be chosen. */
  async #moves({ fen }: Node, signal: AbortSignal): Promise<Played> {
    this.#choice.buckets = (await this.book.open()).manifest.buckets;
    return this.book.moves(fen, signal, this.#choice.chosen);
  }

  #noMovesText(hasEnds: boolean): string {
    const { position } = this.state.node;
    if (!position.hasDests())
      return position.isCheck() ? "Checkmate." : "Stalemate.";
    if (this.#choice.chosen)
      return "This position has no game of the selected groups in this book.";
    if (hasEnds)
      return "All games of the book that reached this position end here.";
    return absentText(this.book.manifest?.info ?? {});
  }

  /** Says which games the book has, and shows its filters. */
  #describe(): void {
    const { manifest } = this.book;
    if (!manifest) return;
    this.#choice.draw();
    byId("book-facts").textContent = contentText(
      manifest.info,
      this.#choice.extents,
    );
  }
}

/** Binds the panel. It looks positions up only while it is visible. */
export function bindExplorerTab(
  state: State,
  database: DatabaseClient,
  page: Pick<PanelPage, "play" | "preview">,
): void {
  const root = byId("explorer");
  const panel = new ExplorerPanel(
    state,
    new BookClient(bookUrl(), database),
    new StatusLine(state, root),
    { ...page, boardUrl: "", opensFilters: false },
  );
  let isVisible = false;
  /** FEN of the last position that was looked up. */
  let asked = "";
  const update = () => {
    if (asked === state.node.fen) return;
    asked = isVisible ? state.node.fen : "";
    if (isVisible) void panel.ask();
    else panel.leave();
  };
  whenVisible(root, (shows) => {
    isVisible = shows;
    if (shows) update();
  });
  state.on(({ node }) => node && update());
  const keys = Object.entries(digitKeys("played-moves")).map(
    ([key, play]) => [key, () => isVisible && play()] as const,
  );
  bindKeys(Object.fromEntries(keys));
}
