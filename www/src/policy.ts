import { lichess } from "./sites";

/**
 * Where this page may fetch from: its own host, Lichess when a game of it is opened, and the database's if `?db=` names another. A policy added by script can only
 * narrow the one that is built into the page.
 */
export function confine(database: URL): void {
  const meta = document.createElement("meta");
  meta.httpEquiv = "Content-Security-Policy";
  meta.content = `connect-src 'self' ${lichess().origin} ${database.origin === "null" ? "" : database.origin}`.trim();
  document.head.append(meta);
}
