// node annotate.mjs GAMES.pgn DATABASE > annotated.pgn
//
// Writes [%eval] comments behind the moves of games, from a database: its URL, or the path of its folder.

import { readFile } from "node:fs/promises";
import { makeFen } from "chessops/fen";
import { makePgn, parsePgn, startingPosition } from "chessops/pgn";
import { parseSan } from "chessops/san";
import { openDatabase, ShelfishError } from "shelfish";

const [file, database] = process.argv.slice(2);
if (!file || !database) throw new Error("usage: node annotate.mjs GAMES.pgn DATABASE");

const shelf = await openDatabase(database);
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

  // A whole game at once: few requests, side by side.
  const answers = await shelf.lookupMany(fens);
  nodes.forEach((node, n) => {
    const answer = answers[n];
    if (answer instanceof ShelfishError) {
      // After the last move there may be nothing to evaluate.
      if (answer.code === "over") return;
      throw answer;
    }
    if (!answer) return;
    const [{ cp, mate }] = answer.best.pvs;
    const score = mate === undefined ? ((cp ?? 0) / 100).toFixed(2) : `#${mate}`;
    const others = (node.comments ?? []).filter((comment) => !comment.includes("[%eval"));
    node.comments = [`[%eval ${score},${answer.best.depth}]`, ...others];
  });
  console.log(makePgn(game));
}
shelf.close();
