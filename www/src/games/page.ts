/** The parts of the page that change when a game is opened. */
import type { Refused } from "../pgn/read-text";

export interface Page {
  /** Shows a message and the games that could not be opened; an empty message hides the line. */
  notice(message: string, refused?: readonly Refused[]): void;
  /** Turns the board so that this side is at the bottom. */
  turn(side: "white" | "black"): void;
}
