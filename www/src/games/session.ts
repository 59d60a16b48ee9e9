/** Which game is on the board: opened from a text, a file, an address, a link or the list; the address bar and the list follow. */
import { follow, write } from "../link/address-bar";
import { plural } from "../text/units";
import { InputError } from "../text/input-error";
import { Game, type Node, path } from "../game/game";
import type { Refused } from "../pgn/read-text";
import { Library } from "./library";
import { format, parse, shorten } from "../link/link";
import { GameMenu } from "./game-menu";
import { once } from "../loading/load-once";
import { attempt, part } from "../loading/page-part";
import type { State } from "../state/state";
import type { Entry } from "./game-store";

/** What the session says and asks of the page. */
export interface Page {
  /** Shows a remark, and games that could not be opened; with an empty remark, nothing. */
  notice(remark: string, refused?: readonly Refused[]): void;
  /** Turns the board so that this side is below. */
  turn(side: "white" | "black"): void;
}

/** How many games of one link are kept: one who follows a link did not ask for thousands in the place of their own. */
const MOST_LINKED = 50;

/** The games of one page. */
export class Session {
  readonly library = new Library(() => this.menu.show(this.state.game));
  readonly menu = new GameMenu(this.library, {
    fresh: () => this.pick(new Game()),
    famous: (slug) => void this.#famous(slug),
    stored: (entry) => void this.openStored(entry),
    all: () => void this.list(),
  });
  /** What is being opened; the next thing that is opened takes its place. */
  #opening = new AbortController();

  constructor(
    private readonly state: State,
    readonly page: Page,
  ) {
    state.on(({ game, node }) => {
      if (game) this.menu.show(state.game);
      // A game that is put on the board writes its own entry of the history.
      if (node && !game) write(format(state.game, state.node));
    });
    state.on(({ known, status }) => (known || (status && state.status.fault)) && this.#prepare().catch(() => {}));
  }

  /** Follows the address bar. */
  start(): void {
    follow((fragment) => void this.#restore(fragment));
  }

  /** Opens a pasted text, an address or a file. Throws an `InputError` if nothing can be opened. */
  async open(input: string | File): Promise<void> {
    const signal = this.#begin();
    try {
      const { open } = await part(import("./open-input"));
      await open(this, input, signal);
    } catch (error) {
      // What was opened meanwhile is on the board.
      if (!signal.aborted) throw error;
    }
  }

  /** Fills the menu, and loads what opening a game takes, so that it is there without a connection too. */
  readonly #prepare = once(async () => {
    this.library.refresh().catch(() => {});
    await Promise.all([this.library.offer(), import("../pgn/read-text"), import("./lichess"), import("./open-input"), import("./open-dialog")]);
  });

  async #famous(slug: string): Promise<void> {
    const signal = this.#begin();
    const game = await this.library.famous(slug).catch(() => undefined);
    if (signal.aborted) return;
    if (game) this.pick(game);
    else this.page.notice("This game cannot be loaded now. Try again.");
  }

  /** Puts a stored game on the board. */
  async openStored({ id, source }: Entry): Promise<void> {
    const signal = this.#begin();
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
    await attempt(open, (fault) => signal.aborted || this.page.notice(fault));
  }

  /** Shows the list of all games that were opened. */
  async list(): Promise<void> {
    this.menu.show(this.state.game);
    try {
      const { showGames } = await import("./games-dialog");
      await showGames(this.library, (entry) => void this.openStored(entry));
    } catch {
      this.page.notice("The list of games cannot be shown now. Try again.");
    }
  }

  /** Puts the position on the board that a link names. */
  async #restore(fragment: string): Promise<void> {
    const signal = this.#begin();
    try {
      const linked = await parse(fragment, {
        famous: (slug) => this.library.famous(slug),
        lichess: async (id) => (await this.library.stored(`lichess:${id}`)) ?? fetched(id, signal),
      });
      if (signal.aborted) return;
      const whole = linked.abridged && linked.game.id ? await this.library.stored(linked.game.id) : undefined;
      if (signal.aborted) return;
      const game = whole ?? this.library.same(linked.game);
      this.page.notice("");
      this.state.enter(game, game === linked.game ? linked.node : along(game, linked.node));
      if (linked.side) this.page.turn(linked.side);
      const { others, refused } = linked;
      if (others.length > 0 || refused.length > 0) this.page.notice(others.length > 0 ? opened(others.length + 1) : "", refused);
      if (game.headers.size > 0 || others.length > 0) void this.keep(game, ...others.slice(0, MOST_LINKED - 1));
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof InputError)) throw error;
      this.state.enter(new Game());
      this.page.notice(error.message);
    }
  }

  /** Puts another game on the board. */
  pick(game: Game, node: Node = game.root): void {
    this.page.notice("");
    this.state.enter(game, node);
    write(format(game, node), true);
    const rewrite = (isShorter: boolean) => isShorter && this.state.game === game && write(format(game, this.state.node));
    shorten(game).then(rewrite, () => {});
  }

  /** Keeps a game in the list, above others that came with it, and says if that cannot be. */
  async keep(game: Game, ...others: readonly Game[]): Promise<void> {
    await this.library.keepGames([game, ...others]);
    if (this.library.remark && this.state.game === game) this.page.notice(this.library.remark);
  }

  #begin(): AbortSignal {
    this.#opening.abort();
    this.#opening = new AbortController();
    return this.#opening.signal;
  }
}

/** How many games came with a link, and how many of them are kept. */
function opened(count: number): string {
  return `${plural(count, "game")} opened: the menu has ${count > MOST_LINKED ? `the first ${MOST_LINKED}` : "them"}.`;
}

/** The same position in another copy of the game. */
function along(game: Game, node: Node): Node {
  return path(node).reduce((at, step) => (step.move ? game.play(at, step.move) : at), game.root);
}

/** The game of Lichess with this id. Throws an `InputError`. */
export async function fetched(id: string, signal: AbortSignal): Promise<Game> {
  const { fetchGame } = await part(import("./lichess"));
  return fetchGame(id, signal);
}
