/** The game on the board, opened from a text, a file, an address, a link or the list. Updates the address bar and the list. */
import { Game, type Node, path } from "../game/game";
import {
  followNavigation,
  writeAddress,
  formatLink,
  type Linked,
  outdatesLink,
  parseLink,
  shareLink,
  shortenLink,
} from "../link/link";
import {
  whenIdle,
  Latest,
  loadOnce,
  loadPart,
  reportInputError,
} from "../loading/loading";
import type { NamedPlayer } from "../players/player";
import type { PlayedGame } from "../sites/request";
import type { State } from "../state/state";
import { InputError } from "../text/words";
import { GameMenu } from "./game-menu";
import type { GameEntry } from "./game-store";
import { Library } from "./library";
import { openedText, type Page } from "./notice";

/** Maximum number of games of a link that are stored: a link must not push out the reader's own games. */
const MAX_LINKED = 50;

export class Session {
  readonly library = new Library();
  readonly menu = new GameMenu(this.library, {
    fresh: () => this.pick(new Game()),
    famous: (slug) => void this.#famous(slug),
    stored: (entry) => void this.openStored(entry),
    player: (player) =>
      void reportInputError(
        () => this.showPlayer(player),
        (message) => this.page.notice(message),
      ),
    all: () => void this.list(),
  });
  /** Aborted when something else is opened. */
  readonly #opening = new Latest();

  constructor(
    private readonly state: State,
    readonly page: Page,
  ) {
    this.library.addEventListener("change", () => this.menu.show(state.game));
    state.on(({ game, node, tree, edited }) => {
      if (game || edited) this.menu.show(state.game);
      if (tree && !game) this.#changed(edited === true);
      // `pick` writes the address of a new game.
      if (node && !game) writeAddress(formatLink(state.game, state.node));
    });
    state.join(
      ({ known, status }) =>
        (known?.size || (status && state.status.error)) &&
        whenIdle(() => void this.#prepare().catch(() => {})),
    );
  }

  /** Opens the game of the address bar, now and after each change of the address. With `isEntered`, an empty address keeps the game on the board. */
  start(isEntered: boolean): void {
    const restore = (fragment: string) => void this.#restore(fragment);
    followNavigation(restore);
    const current = location.hash.slice(1);
    if (isEntered && current === "") return this.#adopt();
    restore(current);
  }

  /** Keeps the changes of the game that was entered before this part was loaded. */
  #adopt(): void {
    const { game, node } = this.state;
    this.menu.show(game);
    if (game.root.children.length === 0) return;
    this.#changed(false);
    writeAddress(formatLink(game, node));
  }

  /** Opens a pasted text, an address or a file. Throws an `InputError` if nothing can be opened. `correct` shows the input and an error in it. */
  async open(
    input: string | File,
    correct: (error: InputError) => void,
  ): Promise<void> {
    const signal = this.#opening.begin();
    try {
      const { openInput } = await loadPart(import("./open-input"));
      await openInput(this, input, correct, signal);
    } catch (error) {
      // If aborted, something else is on the board.
      if (!signal.aborted) throw error;
    }
  }

  /** Fills the menu. */
  readonly #prepare = loadOnce(async () => {
    this.library.refresh().catch(() => {});
    await this.library.offer();
  });

  async #famous(slug: string): Promise<void> {
    const signal = this.#opening.begin();
    const game = await this.library.famous(slug).catch(() => undefined);
    if (signal.aborted) return;
    if (game) this.pick(game);
    else this.page.notice("This game cannot be loaded now. Try again.");
  }

  async openStored({ id, source }: GameEntry): Promise<void> {
    const signal = this.#opening.begin();
    const open = async () => {
      const game = await this.library.stored(source ?? id);
      if (signal.aborted) return;
      if (!game) {
        this.page.notice("This game is not stored any more.");
        return this.library.refresh();
      }
      this.pick(game);
      void this.keep(game);
    };
    await reportInputError(
      open,
      (message) => signal.aborted || this.page.notice(message),
    );
  }

  /** Shows the games of a player. */
  async showPlayer(player: NamedPlayer): Promise<void> {
    const { showPlayer } = await loadPart(import("./player-dialog"));
    await showPlayer(player, (game, side) => void this.#openPlayed(game, side));
  }

  async #openPlayed(
    played: PlayedGame,
    side: "white" | "black",
  ): Promise<void> {
    const signal = this.#opening.begin();
    await reportInputError(
      async () => {
        const { openPlayed } = await loadPart(import("./open-input"));
        if (!signal.aborted) await openPlayed(this, played, side);
      },
      (message) => signal.aborted || this.page.notice(message),
    );
  }

  async list(): Promise<void> {
    this.menu.show(this.state.game);
    try {
      const { showGames } = await import("./games-dialog");
      await showGames(this.library, (entry) => void this.openStored(entry));
    } catch {
      this.page.notice("The list of games cannot be shown now. Try again.");
    }
  }

  async #restore(fragment: string): Promise<void> {
    const signal = this.#opening.begin();
    try {
      const linked = await parseLink(fragment, {
        famous: (slug) => this.library.famous(slug),
        lichess: async (id) =>
          (await this.library.stored(`lichess:${id}`)) ??
          fetchLichessGame(id, signal),
      });
      if (signal.aborted) return;
      // The list may have a copy with more moves.
      if (linked.game.id && !linked.game.slug && !linked.game.lichess)
        await this.library.stored(linked.game.id).catch(() => {});
      if (signal.aborted) return;
      const complaint = await this.#keepLinked(linked);
      if (signal.aborted) return;
      const game = this.library.same(linked.game);
      shareLink(linked.game, game);
      this.state.enter(
        game,
        game === linked.game ? linked.node : samePosition(game, linked.node),
      );
      if (linked.side) this.page.turn(linked.side);
      const { others, refused } = linked;
      const count = others.length + 1;
      const remark =
        others.length > 0
          ? openedText(
              count,
              count + refused.length,
              Math.min(count, MAX_LINKED),
            )
          : "";
      this.page.notice([remark, complaint].filter(Boolean).join(" "), refused);
      if (game.headers.size > 0 || others.length > 0)
        void this.keep(game, ...others.slice(0, MAX_LINKED - 1));
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof InputError)) throw error;
      this.state.enter(new Game());
      this.page.notice(error.message);
    }
  }

  /** Stores the report of a link, unless the game has a report of this browser. Returns why it cannot be read. */
  async #keepLinked({ game, report }: Linked): Promise<string> {
    if (!report || (await this.library.report(game))) return "";
    try {
      const { readReport } = await import("../link/report-link");
      const settled = await readReport(report, game.mainline());
      await this.library.keepReport(game, { ...settled, isLinked: true });
      return "";
    } catch {
      return "The report in the link cannot be read: the moves are judged anew.";
    }
  }

  pick(game: Game, node: Node = game.root): void {
    this.page.notice("");
    this.state.enter(game, node);
    writeAddress(formatLink(game, node), true);
    this.#shorten(game);
  }

  /** Computes the shortest link to a game, and writes it to the address. */
  #shorten(game: Game): void {
    const rewrite = (isChanged: boolean) =>
      isChanged &&
      this.state.game === game &&
      writeAddress(formatLink(game, this.state.node));
    shortenLink(game).then(rewrite, () => {});
  }

  /** Keeps changes of the game's tree, in its link or in the list of games. */
  #changed(isEdited: boolean): void {
    const { game } = this.state;
    if (outdatesLink(game, isEdited)) this.#shorten(game);
    void this.library.save(game);
  }

  /** Stores a game at the top of the list, with other games below it. Shows a message if they cannot be stored. */
  async keep(game: Game, ...others: readonly Game[]): Promise<void> {
    await this.library.keepGames([game, ...others]);
    if (this.library.remark && this.state.game === game)
      this.page.notice(this.library.remark);
  }
}

/** Returns the same position in another copy of the game. */
function samePosition(game: Game, node: Node): Node {
  return path(node).reduce(
    (at, step) => (step.move ? game.play(at, step.move) : at),
    game.root,
  );
}

async function fetchLichessGame(
  id: string,
  signal: AbortSignal,
): Promise<Game> {
  const { fetchGame } = await loadPart(import("../sites/lichess"));
  return fetchGame(id, signal);
}
