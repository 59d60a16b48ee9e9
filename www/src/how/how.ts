/** The page "How it works": shows each step of a lookup in the open database. */
import "./how.css";
import { duration, plural, size } from "../text/units";
import { explain } from "../database/client";
import { byId, make, showFieldError } from "../shell/dom";
import { famous } from "../games/famous-games";
import { manifestUrl } from "../settings/data-urls";
import { Inspector } from "../inspector/inspector";
import { restrictConnections } from "../shell/policy";
import { load } from "../settings/settings";
import { bindTheme } from "../shell/theme";
import { diagram } from "./diagram";
import { canonical } from "./key";
import { show as showOrder } from "./order";
import { show as showSteps } from "./steps";
import { TracedDatabase } from "./trace";

const url = manifestUrl(load().database);
restrictConnections(url);
bindTheme();

const inspector = new Inspector(byId("traffic"));
const traced = new TracedDatabase(url, (request) => inspector.request(request));
const fen = byId<HTMLInputElement>("fen");
const steps = byId<HTMLOListElement>("steps");
const examples = byId("examples").querySelectorAll("button");

function fail(where: HTMLElement, error: unknown): void {
  const { title, advice } = explain(error);
  where.replaceChildren(
    make(
      "p",
      { className: "error", role: "alert" },
      make("strong", {}, title),
      ` ${advice}`,
    ),
  );
}

/** Runs one lookup at a time, so that each request belongs to one lookup. */
let last: Promise<unknown> = Promise.resolve();
function inTurn(work: () => Promise<void>): void {
  last = last.then(work);
}

async function lookUp(text: string): Promise<void> {
  const error = byId("fen-error");
  showFieldError(fen, error, "");
  try {
    canonical(text);
  } catch (cause) {
    return showFieldError(
      fen,
      error,
      `This is not a position: ${(cause as Error).message}. Enter a FEN, such as the FEN of the starting position.`,
    );
  }
  for (const button of examples)
    button.ariaPressed = String(button.value === text);
  try {
    const trace = await traced.trace(text);
    byId("diagram").replaceChildren(diagram(trace.fen));
    showSteps(steps, trace);
    byId("live").textContent =
      `Looked up in ${duration(trace.milliseconds)}, ${plural(trace.requests.length, "request")}.`;
  } catch (cause) {
    fail(byId("diagram"), cause);
    steps.replaceChildren();
  }
  if (traced.database) inspector.count(traced.database.stats());
}

async function openGame(): Promise<void> {
  const game = famous[Number(byId<HTMLSelectElement>("game").value)];
  if (!game) return;
  // The end of a finished game has no evaluation.
  const fens = game
    .load()
    .mainline()
    .filter(({ position }) => position.hasDests())
    .map(({ fen }) => canonical(fen));
  try {
    await showOrder(byId("order"), traced, fens, game.players);
  } catch (cause) {
    fail(byId("order"), cause);
  }
  if (traced.database) inspector.count(traced.database.stats());
}

function describe(): void {
  const { manifest } = traced.database ?? {};
  if (!manifest) return;
  const { positions, evaluations, bytes, shards, format } = manifest;
  const facts: [string, string][] = [
    [positions.toLocaleString("en"), "positions"],
    [evaluations.toLocaleString("en"), "evaluations"],
    [
      size(bytes),
      shards.length === 1
        ? "in one shard"
        : `in ${plural(shards.length, "shard")}`,
    ],
    [(bytes / positions).toFixed(1), "bytes a position"],
    [size(traced.manifestBytes), `manifest, format ${format}`],
    [
      traced.pages.length.toLocaleString("en"),
      traced.pages.length === 1 ? "page of the index" : "pages of the index",
    ],
  ];
  byId("facts").replaceChildren(
    ...facts.map(([value, name]) =>
      make("div", {}, make("dd", {}, value), make("dt", {}, name)),
    ),
  );
  byId("which").textContent =
    url.origin === location.origin ? url.pathname : url.href;
}

for (const button of examples) {
  button.addEventListener("click", () => {
    fen.value = button.value;
    inTurn(() => lookUp(button.value));
  });
}
byId("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  inTurn(() => lookUp(fen.value));
});
const menu = byId<HTMLSelectElement>("game");
famous.forEach(({ title, players }, n) =>
  menu.append(
    make(
      "option",
      { value: String(n), selected: title === "The Opera Game" },
      `${title} · ${players}`,
    ),
  ),
);
menu.addEventListener("change", () => inTurn(openGame));

inTurn(async () => {
  try {
    const database = await traced.open();
    inspector.open(database.manifest);
    describe();
  } catch (error) {
    fail(byId("facts"), error);
    return;
  }
  fen.value = examples[0]?.value ?? "";
  await lookUp(fen.value);
  await openGame();
});
