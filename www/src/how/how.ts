/** The page "How it works": shows what the module reads for each lookup in the open database. */
import "./how.css";
import { type Database, type FetchedRange, openDatabase } from "shelfish";
import { scoreText } from "../../../crate/js/shared/score.ts";
import { explain, isOver } from "../database/client";
import { fetchEarly } from "../loading/loading";
import { manifestUrl } from "../settings/settings";
import { byId, make } from "../shell/dom";
import { bindTheme, restrictConnections } from "../shell/page";
import { duration, plural, size } from "../text/words";

const url = manifestUrl();
restrictConnections(url);
bindTheme();

const fen = byId<HTMLInputElement>("fen");
const examples = byId("examples").querySelectorAll("button");
/** The reads of the current lookup. */
let reads: FetchedRange[] = [];
// Without a cache in IndexedDB, each first lookup makes a request.
const database = openDatabase(url, {
  indexedDB: false,
  fetch: fetchEarly,
  onRequest: (request) => reads.push(request),
});

/** Runs one lookup at a time, so that each read belongs to one lookup. Shows an error in `where`. */
let last: Promise<unknown> = Promise.resolve();
function inTurn(
  where: HTMLElement,
  work: (database: Database) => Promise<void>,
): void {
  last = last.then(async () => {
    try {
      const opened = await database;
      await work(opened);
      const { bytes, requests } = opened.stats();
      byId("totals").textContent =
        `Read: ${size(bytes)} of ${size(opened.manifest.bytes)}, ${plural(requests, "request")}.`;
    } catch (error) {
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
  });
}

const paragraph = (...children: (Node | string)[]) =>
  make("p", {}, ...children);
const step = (title: string, ...content: HTMLElement[]) =>
  make("li", {}, make("h3", {}, title), ...content);

/** Returns a read as the request that the host sees. */
function requestStep({ manifest }: Database, read: FetchedRange): HTMLElement {
  const { pathname } = new URL(read.url);
  const shard = manifest.shards.find(({ file }) => pathname.endsWith(file));
  const isPage = shard && read.start >= shard.bytes - shard.pageBytes;
  return step(
    `A request for ${read.parts === 0 ? "the manifest" : plural(read.parts, isPage ? "page" : "block")}`,
    make(
      "pre",
      { className: "http", tabIndex: 0 },
      `GET ${pathname}\nRange: bytes=${read.start}-${read.end - 1}\n\n206 Partial Content\n${read.bytes.toLocaleString("en")} bytes in ${duration(read.milliseconds)}`,
    ),
  );
}

function lookUp(text: string): void {
  fen.value = text;
  for (const button of examples)
    button.ariaPressed = String(button.value === text);
  inTurn(byId("steps"), async (database) => {
    reads = [];
    const started = performance.now();
    const answer = await database
      .lookup(text, { san: true })
      .catch((error: unknown) => {
        if (isOver(error)) return undefined;
        throw error;
      });
    const cost = `${duration(performance.now() - started)} from question to answer`;
    const requests = reads.map((read) => requestStep(database, read));
    if (requests.length === 0)
      requests.push(
        step(
          "No request",
          paragraph("The block of this position is in memory already."),
        ),
      );
    const [pv] = answer?.pvs ?? [];
    const verdict = (score: string, text: string) =>
      make("p", "verdict", make("strong", {}, score), make("span", {}, text));
    const record =
      answer && pv
        ? [
            verdict(scoreText(pv), `depth ${answer.depth}, ${cost}`),
            paragraph(pv.san.join(" ")),
          ]
        : [
            verdict(answer === null ? "none" : "–", cost),
            paragraph(
              answer === null
                ? "This position is not in the database. It was compared with the positions of the block, piece by piece, so there are no false hits."
                : "The game is over here, so there is nothing to evaluate.",
            ),
          ];
    byId("steps").replaceChildren(...requests, step("The record", ...record));
    byId("live").textContent = `Looked up: ${plural(reads.length, "request")}.`;
  });
}

inTurn(byId("facts"), async ({ manifest }) => {
  const { positions, evaluations, bytes, shards } = manifest;
  const facts = [
    [positions.toLocaleString("en"), "positions"],
    [evaluations.toLocaleString("en"), "evaluations"],
    [size(bytes), `in ${plural(shards.length, "file")}`],
    [(bytes / positions).toFixed(1), "bytes a position"],
  ];
  byId("facts").replaceChildren(
    ...facts.map(([value = "", name = ""]) =>
      make("div", {}, make("dd", {}, value), make("dt", {}, name)),
    ),
  );
});
for (const button of examples)
  button.addEventListener("click", () => lookUp(button.value));
byId("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  lookUp(fen.value);
});
lookUp(examples[0]?.value ?? "");
