import { openDatabase, sample } from "shelfish";

let shelf;

export default {
  async fetch(request) {
    const url = new URL(request.url).searchParams.get("db");
    shelf ??= await openDatabase(url ?? sample(), { concurrency: 1 });
    if (request.method === "HEAD") return new Response();
    const fens = [
      "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -",
      "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
      "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
    ];
    const [, , best] = await Promise.all(
      fens.map((fen) => shelf.lookup(fen, { san: true })),
    );
    return new Response(
      `${best.depth} ${best.pvs[0].score} ${best.pvs[0].san[0]}`,
    );
  },
};
