import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { bookmarklet } from "./build/bookmarklet.ts";
import { head } from "./build/head.ts";
import { sharedHtml } from "./build/shared-html.ts";
import { offline } from "./build/offline.ts";
import { pictures } from "./build/pictures.ts";
import { stockfish } from "./build/stockfish.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const pages = readdirSync(here).filter((name) => name.endsWith(".html"));
/** `cargo xtask site` sets these. */
const {
  SHELFISH_SITE_URL: url,
  SHELFISH_STOCKFISH: engine,
  VITE_DATABASE: database = "db/manifest.json",
} = process.env;

/** Modules of the shared chunk: the board page and most other pages need them. */
const SHARED_MODULES = [
  "database/client",
  "game/(fen|game|identity)",
  "loading/loading",
  "score/known-score",
  "settings/settings",
  "shell/(dom|page)",
  "text/words",
];
const SHARED = new RegExp(
  String.raw`/node_modules/(chessops/(?!.*/(pgn|variant)\.js$)|@badrap/)|/src/(${SHARED_MODULES.join("|")})\.ts$|/pkg/index\.js$|/js/(elements/dom|shared/(errors|options|parts|score))\.ts$|preload-helper|rolldown/runtime`,
);

/** Modules that the pages with a board share in addition. */
const BOARD_MODULES = [
  "board/(board|players|promotion)",
  "evaluation/lines",
  "moves/(navigation|openings)",
  "players/player",
  "state/state",
];
const BOARD = new RegExp(
  String.raw`/node_modules/@lichess-org/chessground/.*\.js$|/src/(${BOARD_MODULES.join("|")})\.ts$`,
);

/** Modules for links. The board needs them after the first evaluation, other pages at once. */
const LINKS = /\/src\/link\/(link|sites)\.ts$/;

/** Modules that the board loads for a game, at the latest after the first evaluation. */
const GAME =
  /\/src\/(analysis\/game-parts|games\/(game-menu|library|session)|moves\/move-list|report\/(graph|judgment|reporter)|loading\/stockfish|evaluation\/(endgame-lookups|engine-search)|style\/game-parts)\.(ts|css)$/;

/** Modules that the board loads after the first evaluation. */
const PANELS =
  /\/src\/(report\/(report-panel|summary)|learn\/learn)\.(ts|css)$/;

/** Modules that the panels and My openings share. */
const QUESTIONS = /\/src\/(learn\/(questions|answer)|style\/parts)\.(ts|css)$/;

export default defineConfig({
  // Relative URLs work under any path, for example on GitHub Pages.
  base: "./",
  plugins: [
    sharedHtml,
    bookmarklet,
    pictures,
    head({ url, database }),
    stockfish(engine),
    offline(),
  ],
  build: {
    target: "es2022",
    // Pieces are parts of their style sheet.
    assetsInlineLimit: (file) => file.includes("/board/merida/"),
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: {
        ...Object.fromEntries(
          pages.map((name) => [name.replace(".html", ""), here + name]),
        ),
        sw: `${here}src/worker/sw.ts`,
      },
      // The service worker keeps its name, and controls the folder that contains it.
      output: {
        entryFileNames: ({ name }) =>
          name === "sw" ? "sw.js" : "assets/[name]-[hash].js",
        // One file: over HTTP/1.1 a browser makes six requests at a time, and the WebAssembly module must be among the first six.
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            { name: "shared", test: SHARED },
            { name: "with-board", test: BOARD },
            { name: "links", test: LINKS },
            { name: "game-parts", test: GAME },
            { name: "questions", test: QUESTIONS },
            { name: "panels", test: PANELS },
          ],
        },
      },
    },
  },
  server: { fs: { allow: [".."] } },
});
