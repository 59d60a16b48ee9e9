/**
 * Lichess. A finished game is opened by its id, so that the board has all of it. Studies, broadcasts, the analysis board,
 * puzzles and TV are read from the page.
 *
 * On a game's page the result stands in `.result-wrap`, which is there only when the game is over, behind the moves in one list.
 * The names of the list's elements (`l4x`, `kwdb`, …) are changed from time to time, so none is relied upon.
 */
import { fieldPgns } from "./any-page";
import { gameFragment, lichessFragment, lichessId } from "./fragment";
import { content, fromFirst, mainLine, movesOf, query } from "./moves";
import { resultIn } from "./notation";
import { refuse, refuseRunning, refuseUnclear } from "./refusal";

const NO_START = "It does not show where this game starts: reload the page.";
/** `status.id` from which on a game has ended: 10 created, 20 started, 25 aborted, 30 mate, … */
const ENDED = 25;

/** The fragment that opens what this page of Lichess shows; `undefined` if it is another site, or no page of a game. */
export function lichess(): string | undefined {
  if (!/(^|\.)lichess\.org$/.test(location.hostname)) return undefined;
  const path = location.pathname;
  const { data, study } = pageData();
  const game = data?.game;
  const id = lichessId(path);
  const ended = game?.status?.id >= ENDED;
  const flipped = query("main .orientation-black") !== null;

  if (query("main.round")) {
    const end = query(".result-wrap") ?? refuseRunning();
    const result = resultIn(content(query(".result", end))) ?? refuse("This game was aborted.");
    if (id) return lichessFragment(id, flipped);
    // TV, whose address has no id.
    const list = [...(end.parentElement as HTMLElement).children].filter((element) => element !== end && !/^\d+$/.test(content(element)));
    return fragmentOf(movesOf(list), { Result: result, FEN: game?.initialFen });
  }
  if (query("main.analyse")) {
    // The player's own analysis of a correspondence game under way is at /ID/COLOUR/analysis.
    if (game && game.id !== "synthetic" && !ended) refuseRunning();
    if (id) return lichessFragment(id, flipped);
    const games = fieldPgns();
    if ((/^\/\w{8,12}\/.*analysis/.test(path) && !ended) || (path.startsWith("/broadcast") && !query(".study__player .result"))) refuseUnclear();
    if (games) return games;
  } else if (!query("main.puzzle")) return undefined;

  const list = query(".tview2") ?? document.body;
  // Another chapter may have been chosen since the page was loaded: where that starts is not known.
  const [, site, , chapter] = path.split("/");
  const known = /study|broadcast/.test(site ?? "") ? study && (!chapter || path.endsWith(study.chapter?.id)) : fromFirst(list);
  const fen: string | undefined = data?.treeParts?.[0]?.fen;
  if (!known && !(data && !study && fen)) refuse(NO_START);
  const [top, bottom] = ["top", "bot"].map((side) => content(query(`.study__player-${side} .name`)));
  return fragmentOf(mainLine(list), { White: flipped ? top : bottom, Black: flipped ? bottom : top, FEN: fen });
}

function fragmentOf(moves: string[], tags: Record<string, string | undefined>): string | undefined {
  if (query("main[class*=variant-]:not(.variant-standard),.round__app:not(.variant-standard)")) refuse("Variants are not known.");
  return gameFragment({ Site: location.href, ...tags }, moves);
}

/** What the page's own script was given when the page was loaded: foreign data, every step of which may be missing. */
function pageData() {
  return JSON.parse(content(query("#page-init-data")) || "{}");
}
