/**
 * Reads games of Lichess. A finished game is opened by its id, so that the board gets the complete game. Studies, broadcasts, the analysis board,
 * puzzles and TV are read from the page.
 *
 * The page of a game has `.result-wrap` only after the game, after the moves in the same list. Lichess changes the names of the list's elements
 * (`l4x`, `kwdb`, …) sometimes, so the code does not use these names.
 */
import { gameOfPath } from "../link/sites";
import {
  fieldPgns,
  gameFragment,
  lichessFragment,
  refuse,
  refuseRunning,
  refuseUnclear,
  content,
  fromFirst,
  mainLine,
  movesOf,
  query,
  resultIn,
} from "./pgn";

const NO_START = "It does not show where this game starts: reload it.";
/** Minimum `status.id` of a finished game: 10 created, 20 started, 25 aborted, 30 mate, … */
const ENDED = 25;

/** Returns the fragment that opens the game on this page; `undefined` for other sites and for pages without a game. */
export function lichess(): string | undefined {
  if (!/(^|\.)lichess\.org$/.test(location.hostname)) return undefined;
  const path = location.pathname;
  const { data, study } = pageData();
  const game = data?.game;
  const id = gameOfPath(path)?.id;
  const ended = game?.status?.id >= ENDED;
  const flipped = !!query("main .orientation-black");

  if (query("main.round")) {
    const end = query(".result-wrap") ?? refuseRunning();
    const result =
      resultIn(content(query(".result", end))) ??
      refuse("This game was aborted.");
    if (id) return lichessFragment(id, flipped);
    // The URL of TV has no id.
    const list = [...(end.parentElement as HTMLElement).children].filter(
      (element) => element !== end && !/^\d+$/.test(content(element)),
    );
    return fragmentOf(movesOf(list), { Result: result, FEN: game?.initialFen });
  }
  if (query("main.analyse")) {
    // The player's own analysis of a correspondence game in progress is at /ID/COLOUR/analysis.
    if (game && game.id !== "synthetic" && !ended) refuseRunning();
    if (id) return lichessFragment(id, flipped);
    const games = fieldPgns();
    if (
      (/^\/\w{8,12}\/.*analysis/.test(path) && !ended) ||
      (path.startsWith("/broadcast") && !query(".study__player .result"))
    )
      refuseUnclear();
    if (games) return games;
  } else if (!query("main.puzzle")) return undefined;

  const list = query(".tview2") ?? document.body;
  // The reader may have changed the chapter after the page was loaded. The start position of that chapter is unknown.
  const [, site, , chapter] = path.split("/");
  const known = /study|broadcast/.test(site ?? "")
    ? study && (!chapter || path.endsWith(study.chapter?.id))
    : fromFirst(list);
  const fen: string | undefined = data?.treeParts?.[0]?.fen;
  if (!known && !(data && !study && fen)) refuse(NO_START);
  const [top, bottom] = ["top", "bot"].map((side) =>
    content(query(`.study__player-${side} .name`)),
  );
  return fragmentOf(mainLine(list), {
    White: flipped ? top : bottom,
    Black: flipped ? bottom : top,
    FEN: fen,
  });
}

function fragmentOf(
  moves: string[],
  tags: Record<string, string | undefined>,
): string | undefined {
  if (
    query(
      "main[class*=variant-]:not(.variant-standard),.round__app:not(.variant-standard)",
    )
  )
    refuse("Variants are not known.");
  return gameFragment({ Site: location.href, ...tags }, moves);
}

/** Returns the data that the page's own script got. Any part of this foreign data may be missing. */
function pageData() {
  return JSON.parse(content(query("#page-init-data")) || "{}");
}
