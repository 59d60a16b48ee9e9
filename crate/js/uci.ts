// A Worker that speaks UCI. It replaces a Worker whose script is `stockfish.js`: commands and answers are messages of text. It asks
// endgame tables and a database before it searches.

import type { Engine } from "./engine/engine.js";
import type { Evaluator } from "./engine/evaluator.js";
import { Parts } from "./shared/parts.js";
import { isShallow } from "./shared/score.js";
import type {
  EngineEvaluation,
  Evaluated,
  Evaluation,
  Pv,
} from "./shared/types.js";
import { type Command, type Go, parse, type Position } from "./uci/commands.js";
import { describe, Options } from "./uci/settings.js";

/** FEN of the initial position. */
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/** A position without illegal moves. */
interface Root {
  fen: string;
  moves: string[];
  searchMoves: string[];
  /** The result of a search to depth 1, or whether the game is over by checkmate. */
  first: EngineEvaluation | { isMate: boolean };
}

/** A search that waits, runs or holds its answer. */
interface Search {
  go: Go;
  stop: AbortController;
}

/** A UCI engine. */
class Session {
  readonly #send: (line: string) => void;
  readonly #options = new Options();
  /** The engine, and the evaluator of database and tables. */
  readonly #parts = new Parts();
  #position: Pick<Position, "fen" | "moves"> = { fen: undefined, moves: [] };
  #search: Search | undefined;
  /** Commands run one after another. */
  #last: Promise<void> = Promise.resolve();

  constructor(send: (line: string) => void) {
    this.#send = send;
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
    }
    this.#search?.stop.abort();
    if (command.name === "stop") return;
    if (command.name === "quit") return this.#parts.close();
    const search =
      command.name === "go"
        ? { go: command, stop: new AbortController() }
        : undefined;
    this.#search = search ?? this.#search;
    this.#run(() => this.#handle(command, search));
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
    else if (command.name === "position") {
      this.#position = command;
      command.moves = (await this.#check()).moves;
    } else if (search) {
      let line: readonly string[] = [];
      try {
        line = await this.#go(search);
      } catch (error) {
        // A page waits for the answer.
        this.#report((error as Error).message);
      }
      if (search.go.infinite) await aborted(search.stop.signal);
      this.#send(bestMove(line));
      if (this.#search === search) this.#search = undefined;
    }
  }

  async #set(option: string, value: string): Promise<void> {
    const set = this.#options.set(option, value);
    if ("error" in set) return this.#report(set.error);
    if (set.name === "Hash") this.#parts.close("engine");
    if (set.name === "EvalDatabase" || set.name === "SyzygyPath")
      this.#parts.close("evaluator");
    if (set.name === "Clear Hash") await (await this.#openEngine()).clear();
  }

  #openEngine(): Promise<Engine> {
    const memoryBytes = this.#options.settings.hash * 2 ** 20;
    return this.#parts.get("engine", async () =>
      (await import("./engine.js")).openEngine({ memoryBytes }),
    );
  }

  /** Opens database and tables. Reports tables that cannot be opened. */
  #openEvaluator(): Promise<Evaluator> {
    return this.#parts.get("evaluator", async () => {
      const { database, endgames } = this.#options.settings;
      const { openEvaluator } = await import("./engine.js");
      const tables = async () =>
        (await import("./endgames.js"))
          .openEndgames(endgames)
          .catch((error: Error) => {
            this.#report(`SyzygyPath: ${error.message}`);
            throw error;
          });
      return openEvaluator({
        database,
        endgames: endgames ? tables : null,
      });
    });
  }

  /** Plays the moves of the position up to an illegal move, and removes illegal moves from `searchMoves`. Rejects if the FEN is invalid. */
  async #check(searchMoves: string[] = []): Promise<Root> {
    const engine = await this.#openEngine();
    const { fen = START, moves } = this.#position;
    const root = { fen, moves, searchMoves };
    for (;;) {
      try {
        const first = await engine.analyse(fen, {
          moves: root.moves,
          searchMoves: root.searchMoves,
          depth: 1,
          castling: this.#castling,
        });
        return { ...root, first };
      } catch (error) {
        const { code, message } = error as { code?: string; message: string };
        if (code === "over")
          return { ...root, first: { isMate: message.includes("checkmate") } };
        const [, list, at] =
          /^(moves|searchMoves)\[(\d+)\]/.exec(message) ?? [];
        if (!list) throw new Error(`position: ${message}`);
        this.#report(message);
        if (list === "moves") root.moves = root.moves.slice(0, Number(at));
        else
          root.searchMoves = root.searchMoves.filter(
            (_, n) => n !== Number(at),
          );
      }
    }
  }

  /** Returns the best line by the best origin: endgame tables, the database, or a search. */
  async #go({ go, stop }: Search): Promise<readonly string[]> {
    go.errors.forEach((error) => this.#report(error));
    const root = await this.#check(go.searchmoves);
    const { first } = root;
    if (!("pvs" in first)) {
      this.#send(`info depth 0 score ${first.isMate ? "mate 0" : "cp 0"}`);
      return [];
    }
    const { elo, overhead } = this.#options.settings;
    const { depth, nodes, movetime, mate, movestogo } = go;
    const clocks = [
      [go.wtime, go.winc],
      [go.btime, go.binc],
    ];
    const isTimed = [...clocks.flat(), movestogo].some(
      (number) => number !== undefined,
    );
    if (!isWhite(first.fen)) clocks.reverse();
    // Without the own clock, that of the opponent counts.
    const [time = isTimed ? 0 : undefined, increment] =
      clocks.find(([time]) => time !== undefined) ?? [];
    const begin = performance.now();
    // Lookups take at most half of the time of the move.
    const lookups = new AbortController();
    void aborted(stop.signal).then(() => lookups.abort());
    const available =
      movetime ?? (time === undefined ? undefined : time / (movestogo || 24));
    const timer =
      available === undefined
        ? undefined
        : setTimeout(() => lookups.abort(), available / 2);
    const known = await this.#known(go, root, first, lookups.signal).finally(
      () => clearTimeout(timer),
    );
    if (known.line) return known.line;
    const remaining = (milliseconds: number | undefined) =>
      milliseconds &&
      Math.max(Math.round(milliseconds - (performance.now() - begin)), 1);
    const clock =
      time === undefined
        ? undefined
        : { time: remaining(time) ?? 0, increment, moves: movestogo, overhead };
    const limits = {
      // A search for a mate that does not exist ends, too.
      depth: atLeastOne(depth ?? (mate && 4 * mate + 8), 127),
      nodes: atLeastOne(nodes),
      movetime: atLeastOne(remaining(movetime)),
      mate: atLeastOne(mate, 1000),
      clock,
    };
    return this.#analyse(root, first, {
      ...(!go.infinite && limits),
      elo,
      signal: stop.signal,
      searchMoves: known.searchMoves ?? root.searchMoves,
    });
  }

  /** Asks tables and database, and reports their answer. Returns the best line, or the moves that keep a draw. */
  async #known(
    { infinite, depth = Infinity, nodes = Infinity, mate }: Go,
    { searchMoves }: Root,
    { fen, isRepeated }: EngineEvaluation,
    signal: AbortSignal,
  ): Promise<{ line?: readonly string[]; searchMoves?: string[] }> {
    const { multiPv, elo, database, endgames } = this.#options.settings;
    // A weaker player asks neither tables nor the database. They ignore certain moves, and contain no requested mate.
    if (elo !== undefined || searchMoves.length > 0 || mate !== undefined)
      return {};
    if (!database && !endgames) return {};
    let found: Evaluated | null;
    try {
      const query = { signal, castling: this.#castling };
      found = await (await this.#openEvaluator()).evaluate(fen, query);
    } catch (error) {
      if (!signal.aborted)
        this.#report(`EvalDatabase: ${(error as Error).message}`);
      return {};
    }
    const { endgame } = found ?? {};
    // A database ignores earlier moves of the game.
    if (!found || (isRepeated && !endgame)) return {};
    // A board limits depth or nodes to choose the strength.
    if (!endgame && (found.depth > depth || found.knodes * 1000 > nodes))
      return {};
    const [{ cp, mate: mates, uci }] = found.pvs;
    this.#report(
      `from the ${endgame ? `endgame tables, ${endgame.outcome}` : "database"}`,
    );
    if (endgame && cp === 0) {
      const drawn = endgame.moves.filter(
        ({ outcome }) => outcome === endgame.moves[0]?.outcome,
      );
      return infinite || multiPv > 1
        ? {}
        : { searchMoves: drawn.map(({ uci }) => uci) };
    }
    const shown = endgame ? { ...found, depth: 1 } : found;
    for (const line of infos(fen, shown, multiPv, endgame && 1))
      this.#send(line);
    const isEnough =
      !infinite &&
      found.pvs.length >= multiPv &&
      (endgame || !isShallow({ ...found, mate: mates }));
    return isEnough ? { line: uci } : {};
  }

  /** Searches, reports each iteration, and returns the best line. The line of a stopped search may be of an unfinished iteration. */
  async #analyse(
    { fen, moves }: Root,
    { pvs: [{ uci }] }: EngineEvaluation,
    options: {
      signal: AbortSignal;
      searchMoves: string[];
      elo: number | undefined;
    },
  ): Promise<readonly string[]> {
    const { multiPv } = this.#options.settings;
    let last: EngineEvaluation | undefined;
    const onInfo = (found: EngineEvaluation) => {
      last = found;
      for (const line of infos(found.fen, found, multiPv)) this.#send(line);
    };
    try {
      const engine = await this.#openEngine();
      const castling = this.#castling;
      const question = { ...options, moves, multiPv, castling, onInfo };
      const found = await engine.analyse(fen, question);
      // A stopped search reports nothing, but returns the line of the iteration that the stop ended.
      if (found.nodes !== last?.nodes) onInfo(found);
      return (found.chosen ?? found.pvs[0]).uci;
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      if (code !== "aborted") this.#report(message);
      return last ? last.pvs[0].uci : uci;
    }
  }

  get #castling(): "chess960" | "standard" {
    return this.#options.settings.isChess960 ? "chess960" : "standard";
  }
}

/** Whether White is to move in a position. */
const isWhite = (fen: string) => fen.split(" ")[1] === "w";

/** Formats a score from the point of view of the side to move. */
function score(fen: string, { cp = 0, mate }: Pick<Pv, "cp" | "mate">): string {
  const sign = isWhite(fen) ? 1 : -1;
  // Adds 0, because -1 * 0 is -0.
  return mate === undefined ? `cp ${sign * cp + 0}` : `mate ${sign * mate}`;
}

/** Formats an evaluation as `info` messages, at most `lines`. */
function infos(
  fen: string,
  {
    depth,
    knodes,
    pvs,
    deepest = depth,
    nodes = knodes * 1000,
    milliseconds,
  }: Evaluation & {
    deepest?: number;
    nodes?: number;
    milliseconds?: number | undefined;
  },
  lines: number,
  tableHits = 0,
): string[] {
  // Lines of a database take no time.
  const speed =
    milliseconds === undefined
      ? 0
      : Math.round((nodes * 1000) / Math.max(milliseconds, 1));
  const hits = tableHits ? ` tbhits ${tableHits}` : "";
  return pvs
    .slice(0, lines)
    .map(
      (pv, index) =>
        `info depth ${depth} seldepth ${deepest} multipv ${index + 1} score ${score(fen, pv)} nodes ${nodes} nps ${speed}${hits} time ${Math.round(milliseconds ?? 0)} pv ${pv.uci.join(" ")}`,
    );
}

/** Formats the best move and the expected reply. The best move is `(none)` if the position has no legal move. */
const bestMove = ([best, reply]: readonly string[]): string =>
  `bestmove ${best ?? "(none)"}${reply ? ` ponder ${reply}` : ""}`;

/** Waits until a signal is aborted. */
const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) =>
    signal.aborted
      ? resolve()
      : signal.addEventListener("abort", () => resolve(), { once: true }),
  );

/** Returns a limit of a search. A limit of 0 is 1, because the engine searches at least one node. */
const atLeastOne = (limit: number | undefined, most = Infinity) =>
  limit === undefined ? undefined : Math.min(Math.max(limit, 1), most);

const scope = globalThis as unknown as {
  postMessage(line: string): void;
  onmessage: ((event: { data: unknown }) => void) | null;
  close(): void;
  location?: { search: string; hash: string };
};

const session = new Session((line) => scope.postMessage(line));

// `?database=URL&endgames=URL` of the script set the options.
// A fragment is the pin of the last URL.
const { search = "", hash = "" } = scope.location ?? {};
const parameters = new URLSearchParams(search + encodeURIComponent(hash));
for (const [parameter, option] of [
  ["database", "EvalDatabase"],
  ["endgames", "SyzygyPath"],
] as const) {
  const url = parameters.get(parameter);
  if (url) session.handle(`setoption name ${option} value ${url}`);
}

scope.onmessage = ({ data }) => {
  for (const line of String(data).split("\n")) {
    session.handle(line);
    if (line.trim() === "quit") scope.close();
  }
};
