/**
 * The bookmarklet: reads the game on the current page and opens the board with it. It runs on other people's pages and makes no request, element or
 * style: a Content-Security-Policy cannot forbid it.
 */
import { anyPage, refuse } from "./pgn";
import { chessCom } from "./chess-com";
import { lichess } from "./lichess";

/** Opens the board at `board`, or shows why it cannot. */
export default function bookmarklet(board: string): void {
  try {
    const fragment =
      lichess() ??
      chessCom() ??
      anyPage() ??
      refuse("No game was found here. If a PGN or a FEN is here, select it.");
    const address = `${board}#${fragment}`;
    try {
      // If the page may not open windows, `open` returns null; in Firefox it throws.
      (open(address) as Window).opener = null;
    } catch {
      location.assign(address);
    }
  } catch (error) {
    alert(`Shelfish: ${(error as Error).message}`);
  }
}
