/** Recognizes addresses of Lichess and chess.com, and gives advice for addresses that cannot be opened. */
import { InputError } from "../text/input-error";
import { decodeUri } from "../text/uri";

/** A game or a position that an address identifies. */
export type SiteAddress =
  | { kind: "lichess"; id: string; side?: "white" | "black"; ply?: number }
  | { kind: "fen"; fen: string };

/** Reads an address or an id; returns `undefined` for other texts. Throws an `InputError` with advice for an address that cannot be fetched. */
export function siteAddress(text: string): SiteAddress | undefined {
  const trimmed = text.trim();
  if (/^[A-Za-z0-9]{8}(?:[A-Za-z0-9]{4})?$/.test(trimmed)) {
    // An id of Lichess mixes letters and digits; words, squares and moves do not.
    const isJumble = /[0-9A-Z]/.test(trimmed.slice(1)) && !/^(?:[a-h][1-8])+$/.test(trimmed);
    return isJumble ? { kind: "lichess", id: trimmed.slice(0, 8) } : undefined;
  }
  const address = /^(?:https?:\/\/)?(?:www\.|[a-z]{2}\.)?(lichess\.org|chess\.com)(\/\S*)?$/i.exec(trimmed);
  if (!address) {
    if (/^https?:\/\/\S+$/i.test(trimmed)) throw new InputError("Only addresses of Lichess games can be opened. For games of other sites, copy the PGN and paste it here.");
    return undefined;
  }
  const [, site = "", path = "/"] = address;
  const url = new URL(path, `https://${site.toLowerCase()}`);
  return url.hostname === "chess.com" ? chessCom(url) : lichessOrg(url);
}

function lichessOrg({ pathname, hash }: URL): SiteAddress {
  const fen = /^\/(?:analysis|editor)\/(?:standard\/|chess960\/|fromPosition\/)?((?:[^/]+\/){7}[^/]+)$/.exec(pathname)?.[1];
  if (fen) return { kind: "fen", fen: decodeUri(fen).replaceAll("_", " ") };
  const [, first = "", second] = pathname.split("/");
  const [id, side] = first === "game" && second === "export" ? [pathname.split("/")[3] ?? "", undefined] : first === "embed" ? [pathname.split("/").at(-1) ?? "", undefined] : [first, second];
  if (/^[A-Za-z0-9]{8}(?:[A-Za-z0-9]{4})?$/.test(id) && !PLACES.has(id)) {
    const ply = /^#(\d{1,4})$/.exec(hash)?.[1];
    return { kind: "lichess", id: id.slice(0, 8), ...(side === "white" || side === "black" ? { side } : {}), ...(ply ? { ply: Number(ply) } : {}) };
  }
  if (first === "study" || first === "broadcast")
    throw new InputError("A study or a broadcast of Lichess cannot be fetched. Use its menu to download or copy the PGN, and open that here.");
  throw new InputError("This address of Lichess is not a game. Addresses of games look like lichess.org/q7ZvsdUF.");
}

function chessCom({ pathname }: URL): never {
  if (/\/(?:game|live|daily|computer)\//.test(pathname))
    throw new InputError("Chess.com does not let other sites fetch games. Choose Share, then PGN, on Chess.com and paste the PGN here, or use the bookmarklet.");
  throw new InputError("This address of Chess.com is not a game. Games of Chess.com cannot be fetched: copy the PGN (Share, PGN) and paste it here.");
}

/** Pages of Lichess whose names look like ids. */
const PLACES = new Set(["analysis", "training", "practice", "insights", "timeline", "features", "streamer"]);
