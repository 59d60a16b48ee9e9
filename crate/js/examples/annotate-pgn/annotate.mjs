// node annotate.mjs GAMES.pgn DATABASE > annotated.pgn
//
// Adds [%eval] comments to the moves of games. DATABASE is a URL or the path of a folder.

import { readFile } from "node:fs/promises";
import { makeFen } from "chessops/fen";
import { makePgn, parsePgn, startingPosition } from "chessops/pgn";
import { parseSan } from "chessops/san";
import { openDatabase, ShelfishError } from "shelfish";

const [file, url] = process.argv.slice(2);
if (!file || !url)
  throw new Error("usage: node annotate.mjs GAMES.pgn DATABASE");

const database = await openDatabase(url);
for (const game of parsePgn(await readFile(file, "utf8"))) {
  // The positions after each move of the main line.
  const position = startingPosition(game.headers).unwrap();
  /** @type {import("chessops/pgn").PgnNodeData[]} */
  const nodes = [];
  const fens = [];
  for (const node of game.moves.mainline()) {
    const move = parseSan(position, node.san);
    if (!move) break;
    position.play(move);
    nodes.push(node);
    fens.push(makeFen(position.toSetup()));
  }

  // A whole game at once: few requests in parallel.
  const answers = await database.lookupMany(fens);
  nodes.forEach((node, n) => {
    const answer = answers[n];
    if (answer instanceof ShelfishError) {
      // The last move may end the game.
      if (answer.code === "over") return;
      throw answer;
    }
    if (!answer) return;
    const [{ cp, mate }] = answer.best.pvs;
    const score =
      mate === undefined ? ((cp ?? 0) / 100).toFixed(2) : `#${mate}`;
    const others = (node.comments ?? []).filter(
      (comment) => !comment.includes("[%eval"),
    );
    node.comments = [`[%eval ${score},${answer.best.depth}]`, ...others];
  });
  console.log(makePgn(game));
}
database.close();
