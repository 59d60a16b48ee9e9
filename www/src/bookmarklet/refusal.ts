/** Messages for the user if the bookmarklet opens nothing. They are short, because the whole bookmarklet is one link. */

export function refuse(reason: string): never {
  throw new Error(reason);
}

/** Refuses a game that is or may be in progress. */
export const refuseRunning = (fact = "This game is being played"): never =>
  refuse(`${fact}: only finished games are opened (fair play).`);

/** Refuses a page if it does not show whether the game is over. */
export const refuseUnclear = (): never =>
  refuseRunning("It does not show whether this game is over");
