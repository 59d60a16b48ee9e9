/** The header of every page except the board page: a link to the board and links to the other pages. */
import { basename } from "node:path";
import type { Plugin } from "vite";

const PAGES = [
  ["./", "Board"],
  ["./play.html", "Play"],
  ["./explorer.html", "Explorer"],
  ["./precedent.html", "Precedent"],
  ["./how.html", "How it works"],
  ["./bookmarklet.html", "Bookmarklet"],
  ["./embed.html", "Embed"],
] as const;

const links = (page: string) =>
  PAGES.map(([href, name]) => `<a href="${href}"${href === `./${page}` ? ' aria-current="page"' : ""}>${name}</a>`).join("\n        ");

const header = (page: string) => `<header class="site-head">
      <a class="home" href="./">
        <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
          <path d="M3 20.5h18M5 18V7.5h3.5V18M10.5 18V4H14v14M16.2 18.2 15 8.4l3.4-.5 1.3 10" />
        </svg>
        Shelfish
      </a>
      <nav aria-label="Site">
        ${links(page)}
        <button type="button" class="icon" id="theme" title="Light or dark">
          <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M12 4a8 8 0 1 0 0 16Z" class="solid" /><circle cx="12" cy="12" r="8" /></svg><span class="hidden">Light or dark</span>
        </button>
      </nav>
    </header>`;

/** Replaces `<!-- masthead -->` with the header and `<!-- links -->` with the links. */
export const masthead: Plugin = {
  name: "shelfish-masthead",
  transformIndexHtml: {
    order: "pre",
    handler: (html, { path }) => html.replace("<!-- masthead -->", header(basename(path))).replace("<!-- links -->", links(basename(path))),
  },
};
