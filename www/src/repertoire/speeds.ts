/** The speed of a player's games: by the time control of the PGN, else by the name that the site gives. */
import { type Speed, SPEEDS, speedOf } from "../game/time-control";
import type { PlayedGame } from "../sites/played-game";

export { type Speed, SPEEDS };

/** Names of speeds of Lichess and Chess.com that are no speeds here. */
const OTHER_NAMES: Record<string, Speed> = {
  ultraBullet: "bullet",
  daily: "correspondence",
};

/** Returns the speed of a game; `undefined` if it is unknown. */
export function speedOfGame({
  pgn,
  speed,
}: Pick<PlayedGame, "pgn" | "speed">): Speed | undefined {
  const control = /^\[TimeControl "([^"\n]{0,40})"\]/m.exec(pgn)?.[1];
  return (
    speedOf(control) ??
    OTHER_NAMES[speed] ??
    SPEEDS.find((each) => each === speed)
  );
}
