/** Addresses of Lichess and chess.com: games, positions, studies, and advice for addresses that cannot be opened. The bookmarklet contains a part. */
import { decodeUri, InputError } from "../text/words";

/** A game on Lichess, and the side at the bottom if the address names it. */
export interface LichessGame {
  id: string;
  side?: "white" | "black" | undefined;
}

/**
 * Reads "ID", "ID/white" or "ID/black". Returns `undefined` for any other text, also for pages of Lichess whose names look like ids. A player's
 * address has four more letters after the id, which are private and are left out.
 */
export function lichessGame(text: string): LichessGame | undefined {
  const [, id, , , side] =
    /^(?!analysis|training|practice|insights|timeline|features|streamer)(\w{8})(\w{4})?(\/(white|black))?$/.exec(
      text,
    ) ?? [];
  return id ? { id, side: side as LichessGame["side"] } : undefined;
}

/** Reads the path of a game or of its embedded viewer. Returns `undefined` for any other path. */
export const gameOfPath = (path: string): LichessGame | undefined =>
  lichessGame(path.replace(/^\/(embed\/(game\/)?)?|\/$/g, ""));

/** A game or a position that an address identifies. */
type SiteAddress =
  | ({ kind: "lichess"; ply?: number } & LichessGame)
  | { kind: "fen"; fen: string };

/** Matches an address of Lichess or chess.com: the site (1), and the path with its fragment (2). */
const ADDRESS =
  /(?<![\w.-])(?:https?:\/\/)?(?:www\.|[a-z]{2}\.)?(lichess\.org|chess\.com)(?![\w.-])(\/\S*)?/i;

/** Reads an address or an id; returns `undefined` for other texts. Throws an `InputError` with advice for an address that cannot be fetched. */
export function siteAddress(text: string): SiteAddress | undefined {
  const trimmed = text.trim();
  const game = lichessGame(trimmed);
  // An id of Lichess mixes letters and digits; words, squares and moves do not.
  if (
    game &&
    /[0-9A-Z]/.test(trimmed.slice(1)) &&
    !/^(?:[a-h][1-8])+$/.test(trimmed)
  )
    return { kind: "lichess", ...game };
  const address = ADDRESS.exec(trimmed);
  if (address?.[0] !== trimmed) {
    if (/^https?:\/\/\S+$/i.test(trimmed))
      throw new InputError(
        "Only addresses of Lichess games can be opened. For games of other sites, copy the PGN and paste it here.",
      );
    return undefined;
  }
  const [, site = "", path = "/"] = address;
  const url = new URL(`https://${site.toLowerCase()}${path}`);
  return url.hostname === "chess.com" ? chessCom(url) : lichessOrg(url);
}

/** Reads the address of a study of Lichess, or of a chapter of a study. Returns the path "STUDY" or "STUDY/CHAPTER", or `undefined`. */
export const studyPath = (text: string): string | undefined =>
  /^(?:https?:\/\/)?(?:www\.)?lichess\.org\/study\/(\w{8}(?:\/\w{8})?)\/?(?:[?#]\S*)?$/i.exec(
    text.trim(),
  )?.[1];

function lichessOrg({ pathname, hash }: URL): SiteAddress {
  const fen =
    /^\/(?:analysis|editor)\/(?:standard\/|chess960\/|fromPosition\/)?((?:[^/]+\/){7}[^/]+)$/.exec(
      pathname,
    )?.[1];
  if (fen) return { kind: "fen", fen: decodeUri(fen).replaceAll("_", " ") };
  const game = gameOfPath(pathname.replace(/^\/game\/export|\/analysis$/, ""));
  if (game) {
    const ply = /^#(\d{1,4})$/.exec(hash)?.[1];
    return { kind: "lichess", ...game, ...(ply ? { ply: Number(ply) } : {}) };
  }
  const first = pathname.split("/")[1];
  if (first === "study" || first === "broadcast")
    throw new InputError(
      "A study or a broadcast of Lichess cannot be fetched. Use its menu to download or copy the PGN, and open that here.",
    );
  throw new InputError(
    "This address of Lichess is not a game. Addresses of games look like lichess.org/q7ZvsdUF.",
  );
}

function chessCom({ pathname }: URL): never {
  if (/\/(?:game|live|daily|computer)\//.test(pathname))
    throw new InputError(
      "Chess.com does not let other sites fetch games. Choose Share, then PGN, on Chess.com, copy the PGN and paste it here, or use the bookmarklet.",
    );
  throw new InputError(
    "This address of Chess.com is not a game. Games of Chess.com cannot be fetched: copy the PGN (Share, PGN) and paste it here.",
  );
}
