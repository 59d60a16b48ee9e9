/** Reads the text that is pasted into the page of the bookmarklet, for browsers without bookmarklets: an address, a PGN or a FEN. */
import { addressIn, siteAddress } from "../link/sites";
import { fenFragment, lichessFragment, pgnFragment } from "./fragment";
import { fenIn, pgnsIn } from "./notation";
import { refuse } from "./refusal";

/** Returns the fragment that opens the text. Throws an error that explains the problem. */
export function pastedFragment(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "")
    refuse("Paste the address of a game at Lichess, a PGN or a FEN.");
  const games = pgnFragment(pgnsIn(trimmed));
  if (games) return games;
  const address = siteAddress(addressIn(trimmed) ?? trimmed);
  if (address?.kind === "lichess")
    return (
      lichessFragment(address.id, address.side === "black") +
      (address.ply ? `&ply=${address.ply}` : "")
    );
  const fen = fenFragment(fenIn(address ? address.fen : trimmed));
  return (
    fen ??
    refuse(
      "This is neither an address of a game at Lichess, nor a PGN with two moves or more, nor a FEN with the side to move.",
    )
  );
}
