/** Reads the text that is pasted into the page of the bookmarklet, for browsers without bookmarklets: a URL, a PGN or a FEN. */
import { fenFragment, lichessFragment, lichessId, pgnFragment } from "./fragment";
import { fenIn, pgnsIn } from "./notation";
import { refuse } from "./refusal";

/** Returns the fragment that opens the text. Throws an error that explains the problem. */
export function pastedFragment(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "") refuse("Paste the address of a game at Lichess, a PGN or a FEN.");
  const games = pgnFragment(pgnsIn(trimmed));
  if (games) return games;
  // Apps share a URL together with other words.
  const [, host = "", path = ""] = /(?:https?:\/\/)?(?:www\.)?(lichess\.org|chess\.com)(\/[^\s?#]*)/i.exec(trimmed) ?? [];
  if (/lichess/i.test(host)) {
    const id = gameId(path.replace(/^\/embed(\/game)?/, ""));
    if (id) return lichessFragment(id, path.endsWith("/black"));
    return fenFragment(fenIn(path)) ?? refuse("This address of Lichess is not that of a game, which ends in eight letters and digits. From a study, copy the PGN and paste it.");
  }
  if (host) refuse("chess.com gives no game to other pages by its address. Use Share, then PGN, in its app or page, copy the PGN and paste it here.");
  const id = gameId(`/${trimmed}`);
  if (id) return lichessFragment(id, false);
  return fenFragment(fenIn(trimmed)) ?? refuse("This is neither an address of a game at Lichess, nor a PGN with two moves or more, nor a FEN with the side to move.");
}

/** Returns the id in a path of Lichess. Words are not ids: other pages have such paths too. */
function gameId(path: string): string | undefined {
  const id = lichessId(path);
  return id && !/^(training|practice|insights|features|password|streamer|timeline)$/.test(id) ? id : undefined;
}
