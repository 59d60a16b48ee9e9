/** The page that demonstrates the viewer for other sites and writes the HTML that embeds it. */
import "./embed.css";
import pgns from "../../../static-shards/famous.pgn?raw";
import { ShelfishGame } from "shelfish/elements";
import { openDatabase } from "shelfish";
import { byId, copy } from "../shell/dom";
import { looksLikeFen } from "../game/fen";
import { load, manifestUrl } from "../settings/settings";
import { bindTheme, restrictConnections } from "../shell/page";

bindTheme();
// On this site the element uses the bundled package. On other sites it loads the package from its own folder.
ShelfishGame.openDatabase = openDatabase;

const settings = load();
const database = manifestUrl(settings.database);
restrictConnections(database);
const shown = byId<ShelfishGame>("shown");
const text = byId<HTMLTextAreaElement>("pgn");
const ply = byId<HTMLInputElement>("ply");
const orientation = byId<HTMLSelectElement>("orientation");

const games = pgns.split(/\n(?=\[Event )/);
const game = (name: string) =>
  games.find((pgn) => pgn.includes(`"${name}`)) ?? games[0] ?? "";

function show(): void {
  const given = text.value.trim();
  const [name, other] = looksLikeFen(given) ? ["fen", "pgn"] : ["pgn", "fen"];
  shown.removeAttribute(other);
  if (shown.getAttribute(name) !== given) shown.setAttribute(name, given);
  for (const [name, value] of [
    ["orientation", orientation.value],
    ["ply", ply.value],
  ] as const) {
    if (value) shown.setAttribute(name, value);
    else shown.removeAttribute(name);
  }
  write();
}

/** Writes the HTML for the current form. */
function write(): void {
  const given = text.value.trim();
  const attributes = [
    'database="evals/"',
    ...(looksLikeFen(given)
      ? [`fen="${escaped(given).replaceAll('"', "&quot;")}"`]
      : []),
    ...(Number(ply.value) > 0 ? [`ply="${Number(ply.value)}"`] : []),
    ...(orientation.value === "black" ? ['orientation="black"'] : []),
  ];
  const inside = looksLikeFen(given) ? "" : `\n${escaped(given)}\n`;
  byId("code").textContent =
    `<script type="module" src="shelfish/elements.js"></script>\n\n<shelfish-game ${attributes.join(" ")}>${inside}</shelfish-game>`;
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

shown.addEventListener("ply", (event) => {
  ply.value = String(event.detail.ply);
  write();
});
byId("form").addEventListener("input", show);
byId("form").addEventListener("submit", (event) => event.preventDefault());
byId("copy").addEventListener("click", async () => {
  const code = byId("code");
  const isCopied = await copy(code.textContent ?? "");
  // If the browser does not allow copying, the user can copy the selected text.
  if (!isCopied) getSelection()?.selectAllChildren(code);
  byId("copied").textContent = isCopied
    ? "Copied"
    : "Selected: copy it by hand";
});

// The game that the board's share dialog links to (src/games/share-dialog.ts), or an example.
const given = new URLSearchParams(
  location.hash.slice(1).replaceAll("+", "%2B"),
).get("pgn");
text.value = given ?? game("Byrne");
ply.value = given ? "" : "33";
shown.database = database.href;
show();
