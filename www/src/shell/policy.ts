/** Where a page may fetch from. */

/**
 * Where this page may fetch from: its own host, Lichess when a game of it is opened, and those of its databases if the address names others. A policy added by script can only
 * narrow the one that is built into the page.
 */
export function restrictConnections(...databases: URL[]): void {
  const meta = document.createElement("meta");
  meta.httpEquiv = "Content-Security-Policy";
  meta.content = ["connect-src 'self'", lichessUrl().origin, ...databases.map(({ origin }) => origin).filter((origin) => origin !== "null")].join(" ");
  document.head.append(meta);
}

/** Where Lichess is; the page says so, that it can be said otherwise. */
export function lichessUrl(): URL {
  const named = document.querySelector<HTMLMetaElement>('meta[name="lichess"]')?.content ?? "";
  return new URL(URL.canParse(named) ? named : "https://lichess.org");
}
