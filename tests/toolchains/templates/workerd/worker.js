import { openDatabase, sample } from "shelfish";

export default {
  async fetch(request) {
    const url = new URL(request.url).searchParams.get("db");
    const shelf = await openDatabase(url ?? sample());
    const best = await shelf.lookup(
      "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
      { san: true },
    );
    return new Response(
      `${best.depth} ${best.pvs[0].score} ${best.pvs[0].san[0]}`,
    );
  },
};
