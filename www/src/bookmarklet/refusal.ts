/** Why the bookmarklet opens nothing, for the person who pressed it. Short: the whole bookmarklet is one link. */

/** Ends the reading of the page. */
export function refuse(reason: string): never {
  throw new Error(reason);
}

/** Ends it for a game that is being played, or may be. */
export const refuseRunning = (fact = "This game is being played"): never => refuse(`${fact}: only finished games are opened (fair play).`);

/** Ends it where it cannot be told whether the game is over. */
export const refuseUnclear = (): never => refuseRunning("It does not show whether this game is over");
