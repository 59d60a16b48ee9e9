import { parseSan } from "chessops/san";
import { describe, expect, it } from "vitest";
import famous from "../../static-shards/famous.pgn?raw";
import { Game } from "../src/game/game";
import { read } from "../src/game/read-pgn";
import { toPgn } from "../src/game/write-pgn";
import { analysis } from "../src/loading/loading";
import { packReport, readReport } from "../src/link/report-link";
import { deflate, inflate } from "../src/text/deflate";
import {
  formatLink,
  parseLink,
  shortenLink,
  type Sources,
} from "../src/link/link";

const opera = async () => {
  const [source] = (await read("1. e4 e5 2. Nf3 d6 3. d4 Bg4 *")).games;
  const game = new Game(undefined, source!.headers, "opera");
  source!
    .mainline()
    .reduce(
      (at, node) => (node.move ? game.play(at, node.move) : at),
      game.root,
    );
  game.sourcePlies = source!.sourcePlies;
  return game;
};
const asked: string[] = [];
const find: Sources = {
  famous: async (slug) => (slug === "opera" ? opera() : undefined),
  lichess: async (id) => {
    asked.push(id);
    const game = (await read('[White "A"]\n\n1. e4 e5 *')).games[0]!;
    game.lichess = id;
    return game;
  },
};
const sans = (game: Game) =>
  game
    .mainline()
    .map((node) => node.san)
    .join(" ")
    .trim();

describe("a link", () => {
  it("is empty for an untouched board", async () => {
    const game = new Game();
    expect(formatLink(game, game.root)).toBe("");
    expect((await parseLink("", find)).node.fen).toBe(game.root.fen);
  });

  it("contains the moves and the ply of a game on the board", async () => {
    const [game] = (await read("e4 e5")).games;
    const link = formatLink(game!, game!.mainline()[1]!);
    expect(link).toBe("moves=e2e4,e7e5&ply=1");
    const back = await parseLink(link, find);
    expect(sans(back.game)).toBe("e4 e5");
    expect(back.node.san).toBe("e4");
  });

  it("names a famous game and the moves that leave it", async () => {
    const game = await opera();
    const third = game.mainline()[3]!;
    expect(formatLink(game, third)).toBe("game=opera&ply=3");
    const aside = game.play(third, parseSan(third.position, "Nc6")!);
    expect(formatLink(game, aside)).toBe("game=opera&ply=3&line=b8c6");
    expect(
      (await parseLink("#game=opera&ply=3&line=b8c6", find)).node.san,
    ).toBe("Nc6");
    const last = game.mainline().at(-1)!;
    const beyond = game.play(last, parseSan(last.position, "dxe5")!);
    expect(formatLink(game, beyond)).toBe("game=opera&ply=6&line=d4e5");
  });

  it("is rejected if a value is invalid", async () => {
    await expect(parseLink("game=nobody", find)).rejects.toThrow(
      /no famous game/,
    );
    await expect(parseLink("moves=e2e5", find)).rejects.toThrow(/illegal move/);
    await expect(parseLink("fen=8/8", find)).rejects.toThrow(/FEN/);
    expect((await parseLink("ply=99&%%%", find)).node.ply).toBe(0);
    expect((await parseLink("game=opera&ply=9999", find)).node.ply).toBe(6);
  });

  it("contains a whole game with names, comments and variations", async () => {
    for (const text of [
      famous.split(/\n(?=\[Event )/)[3]!,
      '[White "Żółć & Co = #1 + 2 %"]\n\n1. e4 {100 % = a & b #} (1. d4) 1... e5 *',
    ]) {
      const [game] = (await read(text)).games;
      const node = game!.mainline()[2]!;
      const long = `pgn=${encodeURIComponent(toPgn(game!, "compact"))}&ply=2`;
      expect(await shortenLink(game!)).toBe(true);
      expect(await shortenLink(game!)).toBe(false);
      const short = formatLink(game!, node);
      expect(short.length).toBeLessThanOrEqual(long.length);
      for (const link of [long, short]) {
        const back = await parseLink(link, find);
        expect(toPgn(back.game)).toBe(toPgn(game!));
        expect(back.node.san).toBe(node.san);
        expect(formatLink(back.game, back.node)).toBe(link);
      }
    }
  });

  it("leaves out comments if the link would be too long", async () => {
    const noise = Array.from({ length: 4000 }, (_, i) =>
      Math.imul(i + 1, 2654435761).toString(36),
    ).join(" ");
    const { games } = await read(
      `[White "A"]\n\n1. e4 {${noise}} (1. d4) 1... e5 *`,
    );
    const [game] = games;
    await shortenLink(game!);
    const link = formatLink(game!, game!.root);
    expect(link.length).toBeLessThan(300);
    const back = await parseLink(link, find);
    expect(back.game.id).toBe(game!.id);
    expect(back.game.headers.get("White")).toBe("A");
  });

  it("names a game of Lichess by its id, and the side at the bottom", async () => {
    const { game, node, side } = await parseLink(
      "lichess=q7ZvsdUF/black&ply=1",
      find,
    );
    expect(asked).toEqual(["q7ZvsdUF"]);
    expect([node.san, side]).toEqual(["e4", "black"]);
    expect(formatLink(game, node)).toBe("lichess=q7ZvsdUF&ply=1");
  });

  it("names no game of Lichess by any other text", async () => {
    const count = asked.length;
    const hostile = [
      "javascript:alert(1)//\\..\\abcdefgh",
      "../../abcdefgh",
      "q7ZvsdUF?x=1",
      "q7ZvsdUF/../abcdefgh",
      "q7ZvsdUF/red",
      "q7ZvsdUFabc",
      "q7ZvsdU",
      "%2e%2e%2fabcdefgh",
      "q7ZvsdUF\n",
      "training",
      "",
    ];
    for (const id of hostile)
      await expect(parseLink(`lichess=${id}`, find), id).rejects.toThrow(
        /does not name a game of Lichess/,
      );
    expect(asked.length).toBe(count);
    for (const id of ["q7ZvsdUF", "q7ZvsdUFabcd", "q7ZvsdUFabcd/white"])
      await parseLink(`lichess=${id}`, find);
    expect(asked.slice(count)).toEqual(Array(3).fill("q7ZvsdUF"));
  });

  it("contains a limited number of moves", async () => {
    const moves = Array.from(
      { length: 5_001 },
      () => "g1f3,g8f6,f3g1,f6g8",
    ).join(",");
    for (const name of ["moves", "line"])
      await expect(parseLink(`${name}=${moves}`, find)).rejects.toThrow(
        /more than 20,000 moves/,
      );
  });

  it("is rejected if the text is damaged or too long after decompression", async () => {
    await expect(parseLink("pgnz=abc", find)).rejects.toThrow(
      /link is damaged/,
    );
    await expect(parseLink("pgnz=%%%", find)).rejects.toThrow(
      /link is damaged/,
    );
    const bomb = new Response(
      new Blob([`1. e4 {${" ".repeat(3_000_000)}} e5`])
        .stream()
        .pipeThrough(new CompressionStream("deflate-raw")),
    );
    const bytes = new Uint8Array(await bomb.arrayBuffer());
    expect(bytes.length).toBeLessThan(10_000);
    await expect(
      parseLink(
        `pgnz=${btoa(
          Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""),
        )
          .replaceAll("+", "-")
          .replaceAll("/", "_")}`,
        find,
      ),
    ).rejects.toThrow(/link is damaged/);
    await expect(parseLink("pgn=1.%20e5", find)).rejects.toThrow(
      /e5 is not a legal move/,
    );
  });
});

describe("a report in a link", () => {
  /** A game and its settled report. Two passes agreed on a milder judgment than the scores say. */
  const judged = async () => {
    const [game] = (await read("1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0")).games;
    const line = game!.mainline();
    const found = await (
      await analysis()
    ).analyseGame("1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0");
    const evaluations = [20, 25, 30, 60, 2_000].map((cp, ply) => ({
      from: ply < 2 ? ("database" as const) : ("uci" as const),
      depth: 20 + ply,
      knodes: 400,
      pvs: [
        {
          ...(cp === 2_000 ? { mate: 1 } : { cp }),
          score: cp === 2_000 ? "#1" : `+${(cp / 100).toFixed(2)}`,
          uci: ply === 3 ? ["b8c6", "f1c4"] : ply === 4 ? ["h5e5"] : [],
        },
      ],
    }));
    const { report } = found;
    report.settled = true;
    report.known = 6;
    for (const move of report.moves)
      Object.assign(move, { settled: true, judgment: null, explanation: null });
    Object.assign(report.moves[3]!, {
      judgment: "mistake",
      loss: 0.25,
      best: { uci: "b8c6", san: "Nc6" },
      explanation: {
        kind: "allowsMate",
        text: "allows mate, in 1",
        begins: "after",
        line: ["h5e5"],
        ...{ mate: 1, role: null, square: null, san: ["Qxe5#"] },
      },
    });
    report.moves[4]!.mark = "great";
    Object.assign(report.white, { judged: 3, accuracy: 97.25, greatMoves: 1 });
    Object.assign(report.black, { judged: 2, accuracy: 61.5, mistakes: 1 });
    report.black.accuracyByPhase.opening = 61.5;
    return {
      line,
      settled: {
        report,
        evaluations: [...evaluations, null],
        by: "Stockfish 19 lite",
        nodes: 400_000,
      } as unknown as Parameters<typeof packReport>[0],
    };
  };

  it("has the same scores, marks, accuracy and explanations for its reader", async () => {
    const { line, settled } = await judged();
    const back = await readReport(await packReport(settled, line), line);
    expect([back.by, back.nodes]).toEqual([settled.by, settled.nodes]);
    const shown = ({ report, evaluations }: typeof settled) => [
      ...report.moves.map((move) => {
        const { judgment, mark, best, explanation } = move;
        return [
          judgment,
          mark,
          judgment && best,
          judgment && move.loss,
          explanation?.text,
          explanation?.begins,
          explanation?.line,
        ];
      }),
      report.white,
      report.black,
      ...evaluations.map((known) => [
        known?.from,
        known?.depth,
        known?.knodes,
        known?.pvs[0].score,
      ]),
    ];
    expect(shown(back)).toEqual(shown(settled));
  });

  it("is refused if it is damaged, too long, hostile or of other moves", async () => {
    const { line, settled } = await judged();
    const packed = await packReport(settled, line);
    const other = (await read("1. e4 e5 2. Qh5 Nc6 3. Qxe5+ *")).games[0]!;
    await expect(readReport(packed, other.mainline())).rejects.toThrow(
      /other moves/,
    );
    await expect(readReport("A".repeat(8_001), line)).rejects.toThrow(/long/);
    const [name] = (await inflate(packed)).split("\t");
    const text = (position: string) =>
      [`${name}\t1\tX`, "", "", ...line.map(() => position)].join("\n");
    for (const hostile of ["1e99", "NaN\t3", "#x\t3", "9\t3\t1\t1\t0\t\te2e5"])
      await expect(
        readReport(await deflate(text(hostile)), line),
        hostile,
      ).rejects.toThrow();
    for (const broken of ["", "%%%", packed.slice(0, -9)])
      await expect(readReport(broken, line)).rejects.toThrow();
    const empty = await readReport(await deflate(text("")), line);
    expect(empty.report.white.accuracy).toBe(null);
  });
});
