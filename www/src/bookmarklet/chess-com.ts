/**
 * Reads games of chess.com. A PGN is available only by the player's name, so the moves come from the move list, which has had several forms. The
 * tags come from the board element's game if the page has one.
 */
import {
  gameFragment,
  refuse,
  refuseRunning,
  refuseUnclear,
  content,
  movesOf,
  query,
  queryAll,
  resultIn,
} from "./pgn";

const BOARD = "wc-chess-board,chess-board";
const LISTS =
  "wc-simple-move-list,wc-move-list,vertical-move-list,.vertical-move-list,.move-list";
/** Selectors of moves, newest form first. Each finds the main line and side lines. */
const MOVES = [".main-line-ply", ".node", ".move-text-component"];
/** Elements that only a game in progress has. */
const LIVE =
  "[class*=resign-button],[data-cy=resign-button],[class*=draw-button]";

/** Returns the fragment that opens the game on this page; `undefined` for other sites and for pages without a board. */
export function chessCom(): string | undefined {
  const path = location.pathname;
  if (
    !/(^|\.)chess\.com$/.test(location.hostname) ||
    !(
      query(BOARD) || /^(\/\w\w)?\/(game|play|live|daily|analysis)\b/.test(path)
    )
  )
    return undefined;
  const { tags, playing } = ownGame();
  if (playing || query(LIVE)) refuseRunning();
  const list = moveList();
  const result = list.result ?? resultIn(tags.Result ?? "");
  // The empty analysis board and the archive of masters' games show no game in progress.
  if (!result && !/^(\/\w\w)?\/(analysis\/?$|games\/)/.test(path))
    refuseUnclear();

  const flipped = !!query(".flipped");
  const player = (colour: string, side: string) =>
    content(
      query(
        `.cc-user-username-${colour},[id*=player-${side}] [class*=username]`,
      ),
    );
  return gameFragment(
    {
      White: player("white", flipped ? "top" : "bottom"),
      Black: player("black", flipped ? "bottom" : "top"),
      Site: location.href,
      ...tags,
      Result: result,
    },
    list.moves,
  );
}

/** Returns the moves of the main line, and the result after them. */
function moveList(): { moves: string[]; result: string | undefined } {
  for (const list of [...queryAll(LISTS), document]) {
    const within = (list as Element).shadowRoot ?? list;
    for (const selector of MOVES) {
      const nodes = queryAll(selector, within).filter(
        (node) => !node.closest("[class*=subline],[class*=variation]"),
      );
      const moves = movesOf(
        nodes.map((node) => query(".node-highlight-content", node) ?? node),
      );
      if (moves.length === 0) continue;
      // Lists number their moves from 0 or 1. No move may be missing.
      nodes.forEach((node, index) => {
        const number = /\d+$/.exec(
          node.getAttribute("data-node") ?? node.getAttribute("data-ply") ?? "",
        );
        if (number && ![index, index + 1].includes(Number(number)))
          refuse("Moves are missing: scroll through the list.");
      });
      // If no element has the result, it follows the last move.
      return {
        moves,
        result: resultIn(
          content(query(".game-result,.result-text", within) ?? within).slice(
            -9,
          ),
        ),
      };
    }
  }
  return { moves: [], result: undefined };
}

/** Returns the PGN tags of the board element's game, and whether the game is in progress. */
function ownGame(): { tags: Record<string, string>; playing: boolean } {
  const tags: Record<string, string> = {};
  try {
    const { game } = query(BOARD) as unknown as {
      game: { getPGN(): string; getMode(): { name: string } };
    };
    for (const [, name = "", value = ""] of game
      .getPGN()
      .matchAll(/^\[(\w+) "(.*)"\]/gm))
      tags[name] = value;
    return { tags, playing: game.getMode().name === "playing" };
  } catch {
    // The board element has no game.
    return { tags, playing: false };
  }
}
