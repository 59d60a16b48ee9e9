/**
 * The bookmarklet: reads the game on the page it is pressed on and opens the board with it. It is pressed on other people's
 * pages, so it asks for nothing of theirs: no request, no element, no style, nothing that a Content-Security-Policy forbids.
 */
import { anyPage } from "./any-page";
import { chessCom } from "./chess-com";
import { lichess } from "./lichess";
import { refuse } from "./refusal";

/** Opens the board at this address, or says why not. */
export default function bookmarklet(board: string): void {
  try {
    const fragment = lichess() ?? chessCom() ?? anyPage() ?? refuse("No game was found here. If there is a PGN or a FEN, select it and try again.");
    const address = `${board}#${fragment}`;
    try {
      // Null, or in Firefox an error, where the page may open no window.
      (open(address) as Window).opener = null;
    } catch {
      location.assign(address);
    }
  } catch (error) {
    alert(`Shelfish: ${(error as Error).message}`);
  }
}
