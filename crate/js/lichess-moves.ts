// Moves from a position. A separate file, because most questions contain a position and no moves.

import { Chess } from "chessops/chess";
import { makeFen, parseFen } from "chessops/fen";
import { parseUci } from "chessops/util";

/**
 * Returns the positions after each move in UCI, as FEN. Returns the text of a move that is illegal, and `undefined` if the
 * position is not valid.
 */
export function play(
  fen: string,
  moves: string[],
): { fens: string[] } | { illegal: string } | undefined {
  const position = parseFen(fen)
    .chain((setup) => Chess.fromSetup(setup))
    .unwrap(
      (valid) => valid,
      () => undefined,
    );
  if (!position) return undefined;
  const fens: string[] = [];
  for (const uci of moves) {
    const move = parseUci(uci);
    if (!move || !position.isLegal(move)) return { illegal: uci };
    position.play(move);
    fens.push(makeFen(position.toSetup()));
  }
  return { fens };
}
