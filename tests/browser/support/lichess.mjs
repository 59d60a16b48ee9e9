// A server with the answers of Lichess' export API (https://lichess.org/api#tag/Games/operation/gamePgn).
import { once } from "node:events";
import { createServer } from "node:http";

/**
 * Games by id: the answer of the API to a request with `pgnInJson=true`, or the status of an error.
 * @typedef {Record<string, { status?: string, pgn: string } | number>} Games
 */

/** @param {Games} games */
export async function lichess(games) {
  /** @type {string[]} */
  const asked = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://lichess");
    asked.push(url.pathname + url.search);
    const cors = { "access-control-allow-origin": "*" };
    const id = /^\/game\/export\/(\w{8})$/.exec(url.pathname)?.[1];
    const game = id === undefined ? 404 : (games[id] ?? 404);
    if (typeof game === "number") return void response.writeHead(game, { ...cors, "content-type": "application/json" }).end('{"error":"no"}');
    // Without this header the API answers with the PGN itself.
    if (request.headers.accept !== "application/json" || url.searchParams.get("pgnInJson") !== "true")
      return void response.writeHead(200, { ...cors, "content-type": "application/x-chess-pgn" }).end(game.pgn);
    response.writeHead(200, { ...cors, "content-type": "application/json" });
    response.end(JSON.stringify({ id, rated: true, variant: "standard", speed: "blitz", ...game }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    /** Requested paths, in order. */
    asked,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
