/** Makes whole pages: with the head, the header, the board with its controls, and the moves of a book. */
import { basename } from "node:path";
import type { Plugin } from "vite";

const PAGES = [
  ["./", "Board"],
  ["./play.html", "Play"],
  ["./explorer.html", "Explorer"],
  ["./openings.html", "My openings"],
] as const;

/** The pages that only the footer links. */
const FURTHER = [
  ["./precedent.html", "Precedent"],
  ["./how.html", "How it works"],
  ["./bookmarklet.html", "Bookmarklet"],
  ["./docs/web-developer.html", "Embed"],
  ["./docs/", "Documentation"],
] as const;

/** The file of the analysis board. Its header also has the games and the tools of the board. */
const BOARD = "index.html";

/** The links to the pages of the menu or the footer. */
const links = (pages: typeof PAGES | typeof FURTHER, page = "") =>
  pages
    .map(([href, name]) => {
      const isCurrent =
        href === `./${page}` || (page === BOARD && href === "./");
      const own = isCurrent ? ' aria-current="page"' : "";
      return `<a href="${href}"${own}${page === BOARD && name === "Play" ? ' id="play" title="Play from here against the engine"' : ""}>${name}</a>`;
    })
    .join("\n        ");

/** The button that opens the links on small screens. */
const MENU = `<button type="button" class="icon" id="menu" popovertarget="nav" data-testid="menu" aria-label="Menu">
        <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 7h16M4 12h16M4 17h16" /></svg>
      </button>`;

const THEME = `<button type="button" id="theme" data-testid="theme" title="Light or dark">
          <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M12 4a8 8 0 1 0 0 16Z" class="solid" /><circle cx="12" cy="12" r="8" /></svg><span>Light or dark</span>
        </button>`;

const HOME = `<a class="home" href="./" aria-label="Shelfish">
        <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
          <path d="M3 20.5h18M5 18V7.5h3.5V18M10.5 18V4H14v14M16.2 18.2 15 8.4l3.4-.5 1.3 10" />
        </svg>
        <span>Shelfish</span>
      </a>`;

/** The header: `before` precedes the button of the menu, `tools` are in the menu. */
const header = (
  page: string,
  before: string,
  tools: string,
) => `<header class="masthead">
      ${HOME}
      ${before}
      ${MENU}
      <nav id="nav" class="nav" popover aria-label="Site and tools">
        ${links(PAGES, page)}
        ${tools}
        ${THEME}
      </nav>
    </header>`;

const footer = (page?: string) => `<footer class="foot-links">
      ${links(FURTHER, page)}
    </footer>`;

/** The board with the choice of a promotion, and the position in words. */
const BOARD_ELEMENTS = `<div class="board" data-testid="board">
          <div id="board" class="cg-wrap" role="img" aria-label="Chess board" aria-describedby="position-text"></div>
          <div id="promotion" class="promotion cg-wrap" role="dialog" aria-label="Promote to" hidden></div>
          <p id="position-text" class="hidden" data-testid="position-text"></p>
        </div>`;

/** The buttons below a board and the field for moves; `key` focuses the field. The steps are disabled until a game is on the board. */
const controls = (
  key: string,
) => `<div class="controls" role="group" aria-label="Moves and board">
        <button type="button" class="icon" id="first" data-testid="first" disabled title="First position (Home)" aria-label="First position">
          <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M6 6v12M18 6l-8 6 8 6Z" /></svg>
        </button>
        <button type="button" class="icon" id="previous" data-testid="previous" disabled title="Back (←)" aria-label="Previous move">
          <svg viewBox="0 0 24 24" aria-hidden="true"><path d="m16 6-8 6 8 6Z" /></svg>
        </button>
        <button type="button" class="icon" id="next" data-testid="next" disabled title="Forward (→)" aria-label="Next move">
          <svg viewBox="0 0 24 24" aria-hidden="true"><path d="m8 6 8 6-8 6Z" /></svg>
        </button>
        <button type="button" class="icon" id="last" data-testid="last" disabled title="Last position (End)" aria-label="Last position">
          <svg viewBox="0 0 24 24" aria-hidden="true"><path d="m6 6 8 6-8 6ZM18 6v12" /></svg>
        </button>
        <button type="button" class="icon" id="flip" data-testid="flip" title="Flip the board (f)" aria-label="Flip the board">
          <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M8 4v15m0 0-3.5-3.5M8 19l3.5-3.5M16 20V5m0 0-3.5 3.5M16 5l3.5 3.5" /></svg>
        </button>
        <div class="typed">
          <input
            id="move" data-testid="move-input" class="move-input" type="text" aria-label="Type a move" placeholder="Move…" title="Type a move, such as Nf3 (${key})"
            autocomplete="off" autocapitalize="off" spellcheck="false" enterkeyhint="go" aria-describedby="move-error"
          />
          <p id="move-error" data-testid="move-error" class="move-error" role="alert"></p>
        </div>
      </div>`;

/** The filters, the table of moves and the games of the explorer. */
const PLAYED = `<details id="filters" data-testid="filters" class="filters" hidden>
          <summary id="chosen" data-testid="chosen"></summary>
          <div id="buckets" data-testid="buckets" class="buckets"></div>
        </details>
        <table id="played" data-testid="played" hidden>
          <caption id="reached" data-testid="reached" class="reached"></caption>
          <thead>
            <tr>
              <th scope="col">Move</th>
              <th scope="col">Games</th>
              <th scope="col"><abbr title="Wins of White, draws, wins of Black">Results</abbr></th>
              <th scope="col" class="rating"><abbr title="Average rating of the players of these games">Rating</abbr></th>
              <th scope="col"><abbr title="Evaluation of the position after the move, from White's point of view">Eval.</abbr></th>
            </tr>
          </thead>
          <tbody id="played-moves"></tbody>
        </table>
        <section id="book-games" data-testid="references" class="references" aria-labelledby="references-title" hidden>
          <h2 id="references-title">Games</h2>
          <ul id="references"></ul>
        </section>
        <p id="status" data-testid="status" class="note" role="status"></p>`;

/** Returns a whole page. Its file has only the page's own part of the head, and its content from `<main>` on. */
function whole(html: string, page: string): string {
  const start = html.search(/^<(main|select)/m);
  const [head, body] = [html.slice(0, start), html.slice(start)];
  const [, before = "", tools = "", main = body] =
    /^(.*)<!-- menu -->(.*)(<main.*)$/s.exec(body) ?? [];
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
    <meta name="color-scheme" content="light dark" />
    <link rel="icon" href="./favicon.svg" type="image/svg+xml" />
    ${head}
  </head>
  <body>
    ${header(page, before, tools)}
    ${main}
    ${footer(page)}
    <noscript><p class="notice">This page works in your browser and needs JavaScript and WebAssembly.</p></noscript>
  </body>
</html>`;
}

/**
 * Makes whole pages, and replaces `<!-- board -->`, `<!-- controls: KEY -->` by the controls of a board, and `<!-- played -->` by the moves of a book.
 */
export const sharedHtml: Plugin = {
  name: "shelfish-shared-html",
  transformIndexHtml: {
    order: "pre",
    handler: (html, { path }) =>
      /\/(404|embed)\.html$/.test(path)
        ? html
            .replace("<!-- home -->", HOME)
            .replace("<!-- links -->", links(PAGES))
            .replace("<!-- footer -->", footer())
        : whole(html, basename(path))
            .replace("<!-- board -->", BOARD_ELEMENTS)
            .replace("<!-- played -->", PLAYED)
            .replace(/<!-- controls: (\w+) -->/, (_, key: string) =>
              controls(key),
            ),
  },
};
