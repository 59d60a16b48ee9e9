// A server with the answers of Chess.com's published data (https://www.chess.com/news/view/published-data-api).
import { createServer } from "node:http";
import { listen } from "./lichess.mjs";

/**
 * Months of a player with their games, such as "2026/04", or the status of an error.
 * @typedef {Record<string, unknown[] | number>} Months
 */

/** @param {Record<string, Months>} players by name in lower case */
export async function chessCom(players) {
  /** @type {string[]} */
  const asked = [];
  let running = 0;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://chess.com");
    asked.push(url.pathname);
    const answer = (
      /** @type {number} */ status,
      /** @type {unknown} */ value,
    ) =>
      void response
        .writeHead(status, {
          "access-control-allow-origin": "*",
          "content-type": "application/json; charset=utf-8",
        })
        .end(JSON.stringify(value), () => running--);
    // Parallel requests get this status.
    if (++running > 1)
      return answer(429, { code: 0, message: "Too Many Requests" });
    const [, name = "", month = ""] =
      /^\/pub\/player\/([\w-]+)\/games\/(.+)$/.exec(url.pathname) ?? [];
    const months = players[name];
    if (!months)
      return answer(404, { code: 0, message: `User "${name}" not found.` });
    if (month === "archives")
      return answer(200, {
        archives: Object.keys(months).map(
          (month) => `https://api.chess.com/pub/player/${name}/games/${month}`,
        ),
      });
    const games = months[month] ?? 404;
    if (typeof games === "number")
      return answer(games, { code: 0, message: "no" });
    answer(200, { games });
  });
  return { ...(await listen(server)), asked };
}
