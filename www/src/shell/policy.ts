/** The hosts that a page may connect to. */

/** Restricts connections to this host, Lichess, and the hosts of the databases. A policy that a script adds can only narrow the policy of the page. */
export function restrictConnections(...databases: URL[]): void {
  const meta = document.createElement("meta");
  meta.httpEquiv = "Content-Security-Policy";
  meta.content = ["connect-src 'self'", lichessUrl().origin, ...databases.map(({ origin }) => origin).filter((origin) => origin !== "null")].join(" ");
  document.head.append(meta);
}

/** Returns the URL of Lichess, which the page may override in a meta element. */
export function lichessUrl(): URL {
  const named = document.querySelector<HTMLMetaElement>('meta[name="lichess"]')?.content ?? "";
  return new URL(URL.canParse(named) ? named : "https://lichess.org");
}
