/**
 * The settled report in a link, `&report=…`: deflated lines of fields. The first line names the game and the judge, two lines have the figures of the
 * sides, and each position has a line: its score, origin, depth and nodes, the sign and the loss of the move before it, its best line if a bad move follows, and the
 * explanation of the move before it.
 */
import type { GameToAnalyse, KnownEval, Report } from "shelfish/analysis";
import type { Score } from "shelfish/engine";
import type { Judged } from "../state/state";
import { hash } from "../game/identity";
import { movesOf, type Node, positionKey } from "../game/game";
import { analysis } from "../loading/loading";
import { deflate, inflate } from "../text/deflate";
import { InputError } from "../text/words";

const ORIGINS = [
  "database",
  "pgn",
  "engine",
  "uci",
  "stockfish",
  "endgames",
] as const;
const SIGNS = [
  "",
  "inaccuracy",
  "mistake",
  "blunder",
  "only",
  "great",
] as const;

/** Maximum number of moves of a best line, of characters of a text, and of characters of a report in a link. */
const MAX = { line: 6, text: 160, report: 8_000 };

const gameName = (line: readonly Node[]): string =>
  hash(movesOf(line).join(" ")).toString(36);

/** Compresses a settled report of a main line; empty if it would be too long. */
export async function packReport(
  { report, evaluations, by, nodes }: Judged,
  line: readonly Node[],
): Promise<string> {
  const sides = [report.white, report.black].map((side) =>
    [
      side.accuracy,
      side.averageCentipawnLoss,
      side.accuracyByPhase.opening,
      side.accuracyByPhase.middlegame,
      side.accuracyByPhase.endgame,
    ].map((figure) => figure?.toFixed(3)),
  );
  const positions = evaluations.map((known, ply) => {
    const [move, next] = [report.moves[ply - 1], report.moves[ply]];
    const { cp, mate, uci } = known?.pvs[0] ?? {};
    const why = move?.explanation;
    return [
      mate === undefined ? cp : `#${mate}`,
      known ? ORIGINS.indexOf(known.from) : "",
      known?.depth,
      known?.knodes,
      SIGNS.indexOf(move?.judgment ?? move?.mark ?? ""),
      move?.judgment ? move.loss?.toFixed(3) : "",
      next?.judgment ? uci?.slice(0, MAX.line).join(" ") : "",
      ...(why ? [why.begins, why.line.join(" "), why.text] : []),
    ];
  });
  const packed = await deflate(
    [[gameName(line), nodes, by], ...sides, ...positions]
      .map((fields) => fields.join("\t").trimEnd())
      .join("\n"),
  );
  return packed.length > MAX.report ? "" : packed;
}

/** Reads the report of a link for a main line. Throws if it is damaged, or belongs to other moves. */
export async function readReport(
  packed: string,
  line: readonly Node[],
): Promise<Judged> {
  if (packed.length > MAX.report)
    throw new InputError("The report in the link is too long.");
  const [[name, nodes, by = ""] = [], white = [], black = [], ...positions] = (
    await inflate(packed)
  )
    .split("\n")
    .map((fields) => fields.split("\t"));
  if (name !== gameName(line) || positions.length !== line.length)
    throw new InputError("The report in the link belongs to other moves.");
  const evaluations = positions.map(
    ([score = "", from, depth, knodes, , , uci]): KnownEval | null =>
      score === ""
        ? null
        : {
            from: ORIGINS[Number(from)],
            depth: Number(depth) || undefined,
            knodes: Number(knodes) || undefined,
            pvs: [
              {
                [score.startsWith("#") ? "mate" : "cp"]: Number(
                  score.replace("#", ""),
                ),
                uci: uci ? uci.split(" ") : [],
              } as unknown as Score,
            ],
          },
  );
  const game: GameToAnalyse = {
    fen: line[0]?.fen,
    moves: movesOf(line),
    positions: line.map(positionKey),
    evaluations,
  };
  const found = await (
    await analysis()
  ).analyseGame(game, { usePgnEvals: true, indexedDB: false });
  const { report } = found;
  report.settled = true;
  report.moves.forEach((move, index) => {
    const [, , , , sign, loss, , begins, line, text] =
      positions[index + 1] ?? [];
    const kind = SIGNS[Number(sign)];
    const isGood = kind === "only" || kind === "great";
    Object.assign(move, {
      settled: true,
      ...(loss && { loss: Math.min(2, Number(loss) || 0) }),
      judgment: (!isGood && kind) || null,
      mark: isGood ? kind : null,
      explanation: text
        ? {
            ...{ kind: "loses", mate: null, role: null, square: null },
            text: text.slice(0, MAX.text),
            begins: begins === "after" ? "after" : "before",
            line: line ? line.split(" ", MAX.line) : [],
            san: [],
          }
        : null,
    });
  });
  [white, black].forEach((figures, index) => {
    const side = report[index === 0 ? "white" : "black"];
    const first = line[0]?.position.turn === "white" ? 0 : 1;
    const own = report.moves.filter(
      ({ ply }) => (ply - 1 + first) % 2 === index,
    );
    const count = (sign: string) =>
      own.filter(({ judgment, mark }) => sign === (judgment ?? mark)).length;
    const figure = (at: number) =>
      figures[at] ? Math.min(1_000, Number(figures[at]) || 0) : null;
    Object.assign(side, {
      ...{ judged: own.length, provisional: 0 },
      accuracy: figure(0),
      averageCentipawnLoss: figure(1),
      accuracyByPhase: {
        opening: figure(2),
        middlegame: figure(3),
        endgame: figure(4),
      },
      inaccuracies: count("inaccuracy"),
      mistakes: count("mistake"),
      blunders: count("blunder"),
      onlyMoves: count("only"),
      greatMoves: count("great"),
    } satisfies Partial<Report["white"]>);
  });
  return {
    report,
    evaluations: found.evaluations,
    by: by.slice(0, MAX.text) || undefined,
    nodes: Number(nodes) || 0,
  };
}
