// A UCI engine. It asks endgame tables and a database before it searches.

import type { Engine, openEngine } from "../engine/engine.js";
import type { openDatabase } from "../database/open.js";
import type { openEndgames } from "../endgames/endgames.js";
import type { ErrorFields } from "../shared/errors.js";
import type { EngineEvaluation } from "../shared/types.js";
import { Parts } from "../shared/parts.js";
import { endingScore, isShallow, probe } from "../shared/score.js";
import { type Command, type Go, parse, type Position } from "./commands.js";
import { bestMove, type Found, infos, isWhite } from "./messages.js";
import { describe, Options } from "./settings.js";

/** Loads the entries of the package. */
export interface Entries {
  engine: () => Promise<typeof openEngine>;
  database: () => Promise<typeof openDatabase>;
  endgames: () => Promise<typeof openEndgames>;
}

/** FEN of the initial position. */
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/** A checked position. */
interface Root {
  fen: string;
  moves: string[];
  /** The result of a search to depth 1, or whether the game is over by checkmate. */
  first: EngineEvaluation | { isMate: boolean };
}

/** A search that waits, runs or holds its answer. */
interface Search {
  go: Go;
  stop: AbortController;
  /** Ends pondering. The search then begins with its limits. */
  hit: AbortController;
}

/** A UCI engine. */
export class Session {
  readonly #send: (line: string) => void;
  readonly #entries: Entries;
  readonly #options = new Options();
  readonly #parts = new Parts();
  #root: Root | undefined;
  #search: Search | undefined;
  /** Commands run one after another. */
  #last: Promise<void> = Promise.resolve();

  constructor(send: (line: string) => void, entries: Entries) {
    this.#send = send;
    this.#entries = entries;
  }

  /** Handles a line. A command that changes the position or an option stops the search first. */
  handle(line: string): void {
    const command = parse(line);
    if (!command) {
      if (line.trim())
        this.#send(`Unknown command: '${line.trim().slice(0, 80)}'.`);
      return;
    }
    switch (command.name) {
      case "uci":
        for (const text of [
          "id name Shelfish",
          "id author the Shelfish authors",
          ...describe(),
          "uciok",
        ])
          this.#send(text);
        return;
      case "isready":
        // During a search, the protocol requires the answer at once.
        if (this.#search) this.#send("readyok");
        else this.#run(async () => this.#send("readyok"));
        return;
      case "stop":
        this.#search?.stop.abort();
        return;
      case "ponderhit":
        this.#search?.hit.abort();
        return;
      case "quit":
        this.close();
        return;
    }
    this.#search?.stop.abort();
    if (command.name === "go")
      this.#search = {
        go: command,
        stop: new AbortController(),
        hit: new AbortController(),
      };
    const search = this.#search;
    this.#run(() => this.#handle(command, search));
  }

  /** Ends the engine. */
  close(): void {
    this.#search?.stop.abort();
    this.#parts.close();
  }

  /** Runs a command after the previous commands. Reports its error. */
  #run(command: () => Promise<void>): void {
    this.#last = this.#last
      .then(command)
      .catch((error: unknown) => this.#report((error as Error).message));
  }

  #report(message: string): void {
    this.#send(`info string ${message.replace(/\s+/g, " ")}`);
  }

  async #handle(command: Command, search: Search | undefined): Promise<void> {
    if (command.name === "setoption")
      await this.#set(command.option, command.value);
    else if (command.name === "ucinewgame")
      await (await this.#openEngine()).clear();
    else if (command.name === "position")
      this.#root = await this.#check(command);
    else if (command.name === "go" && search) {
      try {
        await this.#go(search);
      } catch (error) {
        // A page waits for the answer.
        this.#report((error as Error).message);
        this.#send(bestMove());
      } finally {
        if (this.#search === search) this.#search = undefined;
      }
    }
  }

  async #set(option: string, value: string): Promise<void> {
    const set = this.#options.set(option, value);
    if ("error" in set) return this.#report(set.error);
    if (set.name === "Hash") this.#parts.close("engine");
    if (set.name === "EvalDatabase") this.#parts.close("database");
    if (set.name === "SyzygyPath") this.#parts.close("endgames");
    if (set.name === "Clear Hash") await (await this.#openEngine()).clear();
  }

  #openEngine(): Promise<Engine> {
    const memoryBytes = this.#options.settings.hash * 2 ** 20;
    return this.#parts.get("engine", async () =>
      (await this.#entries.engine())({ memoryBytes }),
    );
  }

  /** Plays the moves of a position. Rejects if the FEN is invalid or a move is illegal. */
  async #check({
    fen = START,
    moves,
  }: Pick<Position, "fen" | "moves">): Promise<Root> {
    const engine = await this.#openEngine();
    try {
      return {
        fen,
        moves,
        first: await engine.analyse(fen, {
          moves,
          depth: 1,
          castling: "chess960",
        }),
      };
    } catch (error) {
      const { code, message } = error as ErrorFields;
      if (code === "over")
        return { fen, moves, first: { isMate: message.includes("checkmate") } };
      throw new Error(`position: ${message}`);
    }
  }

  async #go(search: Search): Promise<void> {
    const { go } = search;
    const { first } = (this.#root ??= await this.#check({
      fen: undefined,
      moves: [],
    }));
    if (!("pvs" in first)) {
      this.#send(`info depth 0 score ${first.isMate ? "mate 0" : "cp 0"}`);
      if (go.infinite) await aborted(search.stop.signal);
      return this.#send(bestMove());
    }
    if (go.ponder) {
      const line = await this.#ponder(search);
      if (!search.hit.signal.aborted || search.stop.signal.aborted)
        return this.#send(bestMove(line));
    }
    this.#send(bestMove(await this.#best(search)));
  }

  /** Searches until `stop` or `ponderhit`. */
  async #ponder(search: Search): Promise<readonly string[]> {
    const { signal } = joined(search.stop.signal, search.hit.signal);
    return this.#analyse({ signal, searchMoves: search.go.searchmoves });
  }

  /** Returns the best line by the best origin: endgame tables, the database, or a search. */
  async #best(search: Search): Promise<readonly string[]> {
    const { go, stop } = search;
    const { elo, overhead } = this.#options.settings;
    const first = this.#root!.first as EngineEvaluation;
    const [time, increment] = isWhite(first.fen)
      ? [go.wtime, go.winc]
      : [go.btime, go.binc];
    const begin = performance.now();
    const lookups = joined(stop.signal);
    // Lookups take at most half of the time of the move.
    const available =
      go.movetime ??
      (time === undefined ? undefined : time / (go.movestogo || 24));
    const timer =
      available === undefined
        ? undefined
        : setTimeout(() => lookups.abort(), available / 2);
    const { known, searchMoves } = await this.#known(
      go,
      lookups.signal,
    ).finally(() => clearTimeout(timer));
    if (known) return known;
    const { depth, nodes, movetime, mate, movestogo } = go;
    const remaining = (milliseconds: number | undefined) =>
      milliseconds &&
      Math.max(Math.round(milliseconds - (performance.now() - begin)), 1);
    const clock =
      time === undefined
        ? undefined
        : { time: remaining(time) ?? 0, increment, moves: movestogo, overhead };
    const limits = {
      depth: atLeastOne(depth, 127),
      nodes: atLeastOne(nodes),
      movetime: atLeastOne(remaining(movetime)),
      mate: atLeastOne(mate, 1000),
      clock,
    };
    const line = await this.#analyse({
      ...(!go.infinite && limits),
      elo,
      signal: stop.signal,
      searchMoves,
    });
    if (go.infinite) await aborted(stop.signal);
    return line;
  }

  /** Asks tables and database. Returns the best line, or the moves to search. */
  async #known(
    { infinite, searchmoves, mate }: Go,
    signal: AbortSignal,
  ): Promise<{ known?: readonly string[]; searchMoves: string[] }> {
    const { multiPv, elo } = this.#options.settings;
    const first = this.#root!.first as EngineEvaluation;
    // A weaker player asks neither tables nor the database. They ignore certain moves, and contain no requested mate.
    if (elo !== undefined || searchmoves.length > 0 || mate !== undefined)
      return { searchMoves: searchmoves };
    const exact = await this.#fromTables(first.fen, signal);
    const counts = !infinite && multiPv === 1;
    if (exact?.best && counts) return { known: [exact.best], searchMoves: [] };
    // A database ignores earlier moves of the game.
    const answer = first.isRepeated
      ? undefined
      : await this.#fromDatabase(first.fen, signal);
    const known =
      answer && !infinite && answer.isDeep && answer.found.pvs.length >= multiPv
        ? answer.found.pvs[0].uci
        : undefined;
    return {
      ...(known && { known }),
      searchMoves: exact && counts ? exact.drawn : [],
    };
  }

  /** Searches, reports each iteration, and returns the best line. The line of a stopped search may be of an unfinished iteration. */
  async #analyse(options: {
    signal: AbortSignal;
    searchMoves: string[];
    elo?: number | undefined;
  }): Promise<readonly string[]> {
    const { fen, moves, first } = this.#root!;
    const { multiPv } = this.#options.settings;
    const [{ uci }] = (first as EngineEvaluation).pvs;
    const only = options.searchMoves;
    const fallback =
      only.length > 0 && !only.includes(uci[0]!) ? [only[0]!] : uci;
    let last: EngineEvaluation | undefined;
    const onInfo = (found: EngineEvaluation) => {
      last = found;
      for (const line of infos(found.fen, found, multiPv)) this.#send(line);
    };
    try {
      const found = await (
        await this.#openEngine()
      ).analyse(fen, {
        ...options,
        moves,
        multiPv,
        castling: this.#castling,
        onInfo,
      });
      // A stopped search reports nothing, but returns the line of the iteration that the stop ended.
      if (found.nodes !== last?.nodes) onInfo(found);
      return (found.chosen ?? found.pvs[0]).uci;
    } catch (error) {
      const { code, message } = error as ErrorFields;
      if (code !== "aborted") this.#report(message);
      return last ? last.pvs[0].uci : fallback;
    }
  }

  get #castling(): "chess960" | "standard" {
    return this.#options.settings.isChess960 ? "chess960" : "standard";
  }

  /** Reports the result of endgame tables. Returns the best move of a decided ending, or the moves that keep a draw. */
  async #fromTables(
    fen: string,
    signal: AbortSignal,
  ): Promise<{ best?: string; drawn: string[] } | undefined> {
    const { endgames } = this.#options.settings;
    if (!endgames) return undefined;
    try {
      const open = () =>
        this.#parts.get("endgames", async () =>
          (await this.#entries.endgames())(endgames),
        );
      const [ending] = await probe([fen], open, {
        signal,
        castling: this.#castling,
      });
      const [best] = ending && !(ending instanceof Error) ? ending.moves : [];
      if (!ending || ending instanceof Error || !best) return undefined;
      this.#report(`from the endgame tables, ${ending.outcome}`);
      const { cp } = endingScore(ending);
      if (cp === 0)
        return {
          drawn: ending.moves
            .filter(({ outcome }) => outcome === best.outcome)
            .map(({ uci }) => uci),
        };
      const found: Found = {
        depth: 1,
        knodes: 0,
        pvs: [{ cp, score: "", uci: [best.uci] }],
      };
      for (const line of infos(fen, found, 1, 1)) this.#send(line);
      return { best: best.uci, drawn: [] };
    } catch (error) {
      if (!signal.aborted)
        this.#report(`SyzygyPath: ${(error as Error).message}`);
      return undefined;
    }
  }

  /** Reports the evaluation of the database. `isDeep` is whether it makes a search unnecessary. */
  async #fromDatabase(
    fen: string,
    signal: AbortSignal,
  ): Promise<{ found: Found; isDeep: boolean } | undefined> {
    const { database, multiPv } = this.#options.settings;
    if (!database) return undefined;
    try {
      const opened = await this.#parts.get("database", async () =>
        (await this.#entries.database())(database),
      );
      const answer = await opened.lookup(fen, {
        signal,
        castling: this.#castling,
      });
      if (!answer) return undefined;
      this.#report("from the database");
      for (const line of infos(fen, answer.best, multiPv)) this.#send(line);
      return {
        found: answer.best,
        isDeep: !isShallow({ ...answer.best, ...answer.best.pvs[0] }),
      };
    } catch (error) {
      if (!signal.aborted)
        this.#report(`EvalDatabase: ${(error as Error).message}`);
      return undefined;
    }
  }
}

/** Waits until a signal is aborted. */
const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) =>
    signal.aborted
      ? resolve()
      : signal.addEventListener("abort", () => resolve(), { once: true }),
  );

/** Returns a controller that is aborted with each of the signals. */
function joined(...signals: AbortSignal[]): AbortController {
  const controller = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) controller.abort();
    else
      signal.addEventListener("abort", () => controller.abort(), {
        once: true,
      });
  }
  return controller;
}

/** Returns a limit of a search. A limit of 0 is 1, because the engine searches at least one node. */
const atLeastOne = (limit: number | undefined, most = Infinity) =>
  limit === undefined ? undefined : Math.min(Math.max(limit, 1), most);
