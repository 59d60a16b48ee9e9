/**
 * chess.com. Its addresses do not lead to a PGN without the player's name, so the moves are read from the list beside the board,
 * which has had several forms; the tags come from the board's own game where the page has one.
 */
import { gameFragment } from "./fragment";
import { content, movesOf, query, queryAll } from "./moves";
import { resultIn } from "./notation";
import { refuse, refuseRunning, refuseUnclear } from "./refusal";

const BOARD = "wc-chess-board,chess-board";
const LISTS = "wc-simple-move-list,wc-move-list,vertical-move-list,.vertical-move-list,.move-list";
/** From the newest form to the oldest; each finds the moves of the main line, and those of side lines with them. */
const MOVES = [".main-line-ply", ".node", ".move-text-component"];
/** What only a game under way has. */
const LIVE = "[class*=resign-button],[data-cy=resign-button],[class*=draw-button]";

/** The fragment that opens the game on this page of chess.com; `undefined` if it is another site, or no page with a board. */
export function chessCom(): string | undefined {
  const path = location.pathname;
  if (!/(^|\.)chess\.com$/.test(location.hostname) || !(query(BOARD) || /^(\/\w\w)?\/(game|play|live|daily|analysis)\b/.test(path))) return undefined;
  const { tags, playing } = ownGame();
  if (playing || query(LIVE)) refuseRunning();
  const list = moveList();
  const result = list.result ?? resultIn(tags.Result ?? "");
  // The empty analysis board and the archive of masters' games have no game that could be under way.
  if (!result && !/^(\/\w\w)?\/(analysis\/?$|games\/)/.test(path)) refuseUnclear();

  const flipped = query(".flipped") !== null;
  const player = (colour: string, side: string) => content(query(`.cc-user-username-${colour},[id*=player-${side}] [class*=username]`));
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

/** The moves of the main line, and the result if one stands behind them. */
function moveList(): { moves: string[]; result: string | undefined } {
  for (const list of [...queryAll(LISTS), document]) {
    const within = (list as Element).shadowRoot ?? list;
    for (const selector of MOVES) {
      const nodes = queryAll(selector, within).filter((node) => !node.closest("[class*=subline],[class*=variation]"));
      const moves = movesOf(nodes.map((node) => query(".node-highlight-content", node) ?? node));
      if (moves.length === 0) continue;
      // Lists number their moves: 0-0, 0-1, … or 1, 2, …: none may be missing.
      nodes.forEach((node, index) => {
        const number = /\d+$/.exec(node.getAttribute("data-node") ?? node.getAttribute("data-ply") ?? "");
        if (number && ![index, index + 1].includes(Number(number))) refuse("Moves are missing in the list: scroll through it first.");
      });
      // Behind the last move, if no element is known to have it.
      return { moves, result: resultIn(content(query(".game-result,.result-text", within) ?? within).slice(-9)) };
    }
  }
  return { moves: [], result: undefined };
}

/** What the board element's game says of itself: the tags of its PGN, and whether it is being played. */
function ownGame(): { tags: Record<string, string>; playing: boolean } {
  const tags: Record<string, string> = {};
  try {
    const { game } = query(BOARD) as unknown as { game: { getPGN(): string; getMode(): { name: string } } };
    for (const [, name = "", value = ""] of game.getPGN().matchAll(/^\[(\w+) "(.*)"\]/gm)) tags[name] = value;
    return { tags, playing: game.getMode().name === "playing" };
  } catch {
    // The page keeps it elsewhere, or has none.
    return { tags, playing: false };
  }
}
