// Servers with the answers of Lichess (https://lichess.org/api) and of Chess.com's published data, in the place of both sites.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after } from "node:test";
import { root } from "./shelf.mjs";

/** A game in the list of a player. @typedef {ReturnType<typeof listed>} Listed */

/**
 * Answers of Lichess, by id, name or path: games, players and the PGN of studies. A number is the status of an error.
 * @typedef {object} Lichess
 * @property {Record<string, { status?: string, pgn: string } | number>} [games]
 * @property {Record<string, Listed[] | number>} [players] by name in lower case
 * @property {Record<string, string>} [studies]
 * @property {Record<string, [white: string, black: string, createdAt: number]>} [names] of games
 */

/** Answers of Chess.com: months of a player with their games, such as "2026/04". @typedef {Record<string, Record<string, unknown[]>>} ChessCom */

/** The status and the body of an answer. @typedef {[status: number, body: unknown]} Answer */

/**
 * Returns a game of Lichess as the API lists it. The opponents of a player are numbered.
 * @param {string} name
 * @param {number} n
 * @param {{ side: "white" | "black", moves: string, result: string, createdAt: number, tags?: string, opening?: object }} game
 */
export function listed(
  name,
  n,
  { side, moves, result, createdAt, tags = "", ...more },
) {
  const user = (/** @type {string} */ name, /** @type {number} */ rating) => ({
    user: { name, id: name.toLowerCase() },
    rating,
  });
  const sides = [user(name, 1800 + n), user(`Opponent${n}`, 1700 + n)];
  const [white, black] = side === "white" ? sides : sides.reverse();
  const winner = { "1-0": "white", "0-1": "black" }[result];
  const id = name.slice(0, 4).padEnd(4, "x") + String(n).padStart(4, "0");
  return {
    id,
    createdAt,
    lastMoveAt: createdAt + 300_000,
    status: winner ? "resign" : "draw",
    players: { white, black },
    ...(winner ? { winner } : {}),
    ...{ rated: true, variant: "standard", speed: "blitz", perf: "blitz" },
    pgn: `[Event "rated blitz game"]\n[Site "https://lichess.org/${id}"]\n[White "${white?.user.name}"]\n[Black "${black?.user.name}"]\n[Result "${result}"]\n${tags}\n${moves} ${result}\n`,
    ...more,
  };
}

/** Answers as Lichess. @returns {Answer} */
function lichess(
  /** @type {Lichess} */ { games = {}, players = {}, studies = {}, names = {} },
  /** @type {URL} */ { pathname, searchParams },
) {
  if (pathname === "/api/games/export/_ids") {
    const all = Object.entries(names).map(([id, [white, black, createdAt]]) => {
      const user = (/** @type {string} */ name) => ({ user: { name } });
      const players = { white: user(white), black: user(black) };
      return `${JSON.stringify({ id, createdAt, players })}\n`;
    });
    return [200, all.join("")];
  }
  const [, name] = /^\/api\/games\/user\/([\w-]+)$/.exec(pathname) ?? [];
  if (name !== undefined) {
    const player = players[name.toLowerCase()] ?? 404;
    if (typeof player === "number") return [player, { error: "no" }];
    const bound = (/** @type {string} */ name, /** @type {number} */ usual) =>
      Number(searchParams.get(name) ?? usual);
    const found = player
      .filter(({ createdAt }) => createdAt >= bound("since", 0))
      .filter(({ createdAt }) => createdAt <= bound("until", Infinity))
      .sort((a, b) => b.createdAt - a.createdAt)
      .slice(0, bound("max", Infinity));
    // An object on each line.
    return [200, found.map((game) => `${JSON.stringify(game)}\n`).join("")];
  }
  const [, study] = /^\/api\/study\/([\w/]+)\.pgn$/.exec(pathname) ?? [];
  if (study !== undefined) return [studies[study] ? 200 : 404, studies[study]];
  const [, id = ""] = /^\/game\/export\/(\w{8})$/.exec(pathname) ?? [];
  const game = games[id] ?? 404;
  return typeof game === "number"
    ? [game, { error: "no" }]
    : [200, { id, rated: true, variant: "standard", speed: "blitz", ...game }];
}

/** Answers as Chess.com. @returns {Answer} */
function chessCom(
  /** @type {ChessCom} */ players,
  /** @type {URL} */ { pathname },
) {
  const [, name = "", month = ""] =
    /^\/pub\/player\/([\w-]+)\/games\/(.+)$/.exec(pathname) ?? [];
  const months = players[name];
  if (!months) return [404, { message: `User "${name}" not found.` }];
  if (month !== "archives") return [200, { games: months[month] }];
  const url = `https://api.chess.com/pub/player/${name}/games`;
  return [
    200,
    { archives: Object.keys(months).map((month) => `${url}/${month}`) },
  ];
}

/** Starts a server. Returns its URL, and the paths of its requests. */
async function start(/** @type {(url: URL) => Answer} */ answer) {
  /** @type {string[]} */
  const asked = [];
  let running = 0;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://site");
    asked.push(url.pathname + url.search);
    // Chess.com answers parallel requests with this status.
    const [status, body] = running++ > 0 ? [429, {}] : answer(url);
    response
      .writeHead(status, { "access-control-allow-origin": "*" })
      .end(typeof body === "object" ? JSON.stringify(body) : body, () => {
        running--;
      });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => void server.close().closeAllConnections());
  const { port } = /** @type {import("node:net").AddressInfo} */ (
    server.address()
  );
  return { url: `http://127.0.0.1:${port}`, asked };
}

/**
 * Starts both sites for a page of the site. Returns the paths of their requests.
 * @param {string} page
 * @param {Lichess} ofLichess
 * @param {ChessCom} ofChessCom
 */
export async function useSites(page, ofLichess, ofChessCom = {}) {
  const file = join(root, "site", page);
  const one = await start((url) => lichess(ofLichess, url));
  const two = await start((url) => chessCom(ofChessCom, url));
  let html = readFileSync(file, "utf8");
  for (const [name, { url }] of /** @type {const} */ ([
    ["lichess", one],
    ["chess.com", two],
  ])) {
    const meta = new RegExp(`(<meta name="${name}" content=")[^"]*`);
    assert.match(html, meta);
    html = html.replace(meta, `$1${url}`);
  }
  writeFileSync(file, html);
  return { lichess: one.asked, chessCom: two.asked };
}
