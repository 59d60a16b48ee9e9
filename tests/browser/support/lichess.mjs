// A server with the answers of Lichess' API for games, players and studies (https://lichess.org/api).
import { once } from "node:events";
import { createServer } from "node:http";

/**
 * Games by id: the answer of the API to a request with `pgnInJson=true`, or the status of an error.
 * @typedef {Record<string, { status?: string, pgn: string } | number>} Games
 */

/**
 * A game in the list of a player.
 * @typedef {{ id: string, createdAt: number, pgn: string, status: string, variant?: string, winner?: string, [field: string]: unknown }} Listed
 */

/**
 * A player: the games, or the status of an error, or games with a connection that breaks after some of them, when `signal` is aborted.
 * @typedef {Listed[] | number | { games: Listed[], breaksAfter: number, signal: AbortSignal }} Player
 */

const CORS = { "access-control-allow-origin": "*" };

/**
 * @param {Games} games
 * @param {{ players?: Record<string, Player>, studies?: Record<string, string> }} others players by name, and the PGN of studies by path
 */
export async function lichess(games, { players = {}, studies = {} } = {}) {
  /** @type {string[]} */
  const asked = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://lichess");
    asked.push(url.pathname + url.search);
    const refuse = (/** @type {number} */ status) =>
      void response
        .writeHead(status, { ...CORS, "content-type": "application/json" })
        .end('{"error":"no"}');
    const pgn = (/** @type {string} */ text) =>
      void response
        .writeHead(200, { ...CORS, "content-type": "application/x-chess-pgn" })
        .end(text);
    const name = /^\/api\/games\/user\/([\w-]+)$/.exec(url.pathname)?.[1];
    if (name !== undefined)
      return list(
        url,
        response,
        players[name.toLowerCase()] ?? 404,
        request.headers.accept,
        refuse,
      );
    const study = /^\/api\/study\/([\w/]+)\.pgn$/.exec(url.pathname)?.[1];
    if (study !== undefined)
      return studies[study] === undefined ? refuse(404) : pgn(studies[study]);
    const id = /^\/game\/export\/(\w{8})$/.exec(url.pathname)?.[1];
    const game = id === undefined ? 404 : (games[id] ?? 404);
    if (typeof game === "number") return refuse(game);
    // Without this header the API answers with the PGN itself.
    if (
      request.headers.accept !== "application/json" ||
      url.searchParams.get("pgnInJson") !== "true"
    )
      return pgn(game.pgn);
    response.writeHead(200, { ...CORS, "content-type": "application/json" });
    response.end(
      JSON.stringify({
        id,
        rated: true,
        variant: "standard",
        speed: "blitz",
        ...game,
      }),
    );
  });
  return { ...(await listen(server)), asked };
}

/**
 * Answers with the games of a player, the last game first, an object on each line.
 * @param {URL} url
 * @param {import("node:http").ServerResponse} response
 * @param {Player} player
 * @param {string | undefined} accept
 * @param {(status: number) => void} refuse
 */
function list({ searchParams }, response, player, accept, refuse) {
  if (typeof player === "number") return refuse(player);
  if (
    accept !== "application/x-ndjson" ||
    searchParams.get("pgnInJson") !== "true"
  )
    return refuse(400);
  const { games, breaksAfter, signal } = Array.isArray(player)
    ? { games: player, breaksAfter: Infinity, signal: undefined }
    : player;
  const bound = (/** @type {string} */ name, /** @type {number} */ usual) =>
    Number(searchParams.get(name) ?? usual);
  const found = games
    .filter(
      ({ perf = "blitz" }) =>
        !searchParams.has("perfType") ||
        String(searchParams.get("perfType")).split(",").includes(String(perf)),
    )
    .filter(
      ({ createdAt }) =>
        createdAt >= bound("since", 0) && createdAt <= bound("until", Infinity),
    )
    .sort((a, b) => b.createdAt - a.createdAt)
    .slice(0, bound("max", Infinity));
  response.writeHead(200, { ...CORS, "content-type": "application/x-ndjson" });
  const line = (/** @type {Listed} */ game) =>
    `${JSON.stringify({ rated: true, variant: "standard", speed: "blitz", perf: "blitz", ...game })}\n`;
  if (found.length <= breaksAfter)
    return void response.end(found.map(line).join(""));
  // The next game is cut in its middle.
  const cut = line(/** @type {Listed} */ (found[breaksAfter])).slice(0, 40);
  response.write(found.slice(0, breaksAfter).map(line).join("") + cut);
  // A browser drops the bytes that its script has not read before the connection breaks.
  signal?.addEventListener("abort", () => response.destroy());
}

/**
 * Starts a server on a free port.
 * @param {import("node:http").Server} server
 */
export async function listen(server) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (
    server.address()
  );
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
