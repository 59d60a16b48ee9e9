// The matrix of faults, resources and readers. Each cell is a right answer or a named error, within limits of time and requests.
// `FAULTS_CELLS` selects “reader, resource, fault” by a pattern.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import {
  ADDED,
  famous,
  renewed,
  serverRoot,
} from "../browser/support/fixtures.mjs";
import { host, rightly } from "../browser/support/host.mjs";
import { START } from "../browser/support/chromium.mjs";
import { DUMPS, ROOT } from "../browser/support/paths.mjs";
import { plain, truth } from "../browser/support/truth.mjs";
import { until } from "../browser/support/until.mjs";
import {
  RESOURCES,
  ROWS,
  isUndecoded,
  limit,
  makesSense,
} from "./support/cells.mjs";
import { READERS } from "./support/readers.mjs";

/**
 * @typedef {import("./support/cells.mjs").Resource} Resource
 * @typedef {import("./support/cells.mjs").Row} Row
 * @typedef {import("./support/readers.mjs").Reader} Reader
 * @typedef {import("./support/readers.mjs").Outcome} Outcome
 * @typedef {Awaited<ReturnType<typeof host>>} Host
 */

/** Seconds that a request has if only a time-out ends it, and otherwise. A busy machine may need longer for a right answer. */
const SHORT = 1;
const LONG = 20;

/** The databases before and after a new build. */
const BUILDS = {
  evaluations: [famous(), renewed()],
  book: ["book", "book-details"].map((name) =>
    join(ROOT, "tests/data", name, "db"),
  ),
};

/** Returns the hash that pins the database in a folder. */
const pinOf = (/** @type {string} */ folder) =>
  `sha256-${createHash("sha256")
    .update(readFileSync(join(folder, "manifest.json")))
    .digest("base64")}`;

const buildsOf = (/** @type {Resource} */ { kind }) => BUILDS[kind];

/** Names of the parts of the databases, by file and range. @type {Map<string, string>} */
const parts = new Map();

/** Returns the name of the resource that a request asks for. */
function resourceOf(
  /** @type {{ path: string, range: string | null }} */ { path, range },
) {
  const file = path.slice(path.lastIndexOf("/") + 1);
  return file === "manifest.json"
    ? "manifest"
    : (parts.get(`${file} ${range}`) ?? "other");
}

/** Hosts have headers that other origins can read, unless a fault hides them. */
const SHARED = {
  "access-control-expose-headers":
    "content-encoding, content-length, content-range, etag, retry-after",
};

/** The host of the package for pages whose database has a fault. @type {Host} */
let home;
/** A host without faults. @type {Host} */
let good;
let cells = 0;

/**
 * Begins a question on a host.
 * @param {Host} bad
 * @param {Awaited<ReturnType<Reader["start"]>>} running
 */
function begin(bad, running, /** @type {Resource} */ resource, timeout = LONG) {
  const { kind, isPinned } = resource;
  const [directory = ""] = buildsOf(resource);
  // A path of its own, because browsers keep answers and redirects.
  const folder = `${bad.url}shelf/${cells++}/`;
  bad.directory = directory;
  bad.older = [];
  bad.rewrite = (path) => path.slice(path.lastIndexOf("/"));
  const integrity = isPinned ? pinOf(directory) : undefined;
  return running.begin({
    kind,
    url: folder,
    page: home.url,
    integrity,
    timeout,
  });
}

/** What a reader does without a fault. @typedef {{ answers: string[], requests: number }} Usual */

/** Asks the question of a resource without a fault, of each build. @returns {Promise<Usual>} */
async function usual(
  /** @type {Host} */ bad,
  /** @type {Awaited<ReturnType<Reader["start"]>>} */ running,
  /** @type {Resource} */ resource,
) {
  const answers = [];
  let requests = 0;
  for (const [number, directory] of buildsOf(resource).entries()) {
    if (number > 0 && resource.isPinned) break;
    const session = await begin(bad, running, resource);
    bad.directory = directory;
    bad.requests.length = 0;
    const outcome = await session.ask();
    await session.close();
    assert.ok(
      "answer" in outcome,
      `${resource.name} without a fault: ${JSON.stringify(outcome)}`,
    );
    answers.push(outcome.answer);
    if (number === 0) requests = bad.requests.length;
  }
  return { answers, requests };
}

/** Runs a cell. Returns what is wrong. @returns {Promise<string[]>} */
async function run(
  /** @type {Host} */ bad,
  /** @type {Awaited<ReturnType<Reader["start"]>>} */ running,
  /** @type {Row} */ row,
  /** @type {Resource} */ resource,
  /** @type {Reader} */ reader,
  /** @type {Usual} */ { answers, requests: expected },
) {
  const session = await begin(
    bad,
    running,
    resource,
    row.isSlow ? SHORT : LONG,
  );
  const [oldest = "", newest = ""] = buildsOf(resource);
  const fault = row.fault?.();
  /** Times of the requests for the resource. @type {number[]} */
  const times = [];
  let faulty = 0;
  bad.requests.length = 0;
  bad.heard = (request) => {
    if (resourceOf(request) !== resource.name) return;
    times.push(performance.now());
    if (row.build && bad.directory !== newest) {
      bad.directory = newest;
      bad.older = row.build === "kept" ? [oldest] : [];
    }
  };
  bad.fault = bad.manifestFault = (exchange) => {
    const { path, range } = exchange;
    const isFaulty =
      resourceOf({
        path,
        range: range && `bytes=${range.start}-${range.end - 1}`,
      }) === resource.name;
    const isOn = fault && isFaulty && faulty < (row.times ?? Infinity);
    if (isOn) faulty++;
    (isOn ? fault : rightly)(exchange);
  };
  const outcome = await session.ask();
  const requests = bad.requests.length;
  const asked = times.length;
  bad.fault = bad.manifestFault = undefined;
  bad.heard = () => {};
  /** @type {string[]} */
  const problems = [];
  const most = limit(row, resource, reader);
  const codes = isUndecoded(row, resource, reader)
    ? ["network"]
    : (row.codes ?? []);
  const isManifest = resource.name === "manifest" && row.times === 1;
  if ("answer" in outcome) {
    if (!answers.includes(outcome.answer))
      problems.push(`WRONG ANSWER ${outcome.answer.slice(0, 300)}`);
    if (row.codes && !row.build)
      problems.push(`an answer instead of ${row.codes.join(" or ")}`);
  } else if (!isManifest && !codes.includes(outcome.error))
    problems.push(
      `${outcome.error}, expected ${codes.join(" or ") || "an answer"}`,
    );
  if (asked === 0) problems.push("the resource was not requested");
  if (asked > most)
    problems.push(
      `${asked} requests for the resource, expected at most ${most}`,
    );
  // The manifest may be read again, and a new build has other pages.
  const total = row.build ? 2 * expected : expected - 1 + most + 1;
  if (requests > total)
    problems.push(`${requests} requests, expected at most ${total}`);
  const pauses = times.slice(1).map((time, n) => time - (times[n] ?? 0));
  if (row.pause && pauses.some((pause) => pause < Number(row.pause) - 20))
    problems.push(
      `a pause of ${Math.min(...pauses).toFixed()} ms, expected ${row.pause} ms`,
    );
  // The same reader answers when the fault has passed.
  /** @type {Outcome | undefined} */
  let last;
  const recovers = async () => {
    last = await session.ask();
    return "answer" in last && answers.includes(last.answer);
  };
  // A new build under a pin is an error until somebody changes the pin. A busy machine may exceed a short time-out.
  const isForGood = row.build && resource.isPinned;
  if (
    !isForGood &&
    !(await recovers()) &&
    !(
      row.isSlow &&
      (await until(
        recovers,
        () =>
          `${resource.name}, ${row.name}: afterwards ${JSON.stringify(last)}`,
      ))
    )
  )
    problems.push(`afterwards ${JSON.stringify(last).slice(0, 300)}`);
  await session.close();
  return problems.map(
    (problem) =>
      `${resource.name}, ${row.name}: ${problem} (${JSON.stringify(outcome).slice(0, 300)})`,
  );
}

before(async () => {
  [home, good] = [await host(serverRoot()), await host("")];
  Object.assign(home.shared, SHARED);
  // The parts of a lookup are requested in this order.
  for (const [kind, names, isPinned] of /** @type {const} */ ([
    ["evaluations", ["leaf page", "block"], false],
    ["evaluations", ["leaf page", "list of hashes", "block"], true],
    ["book", ["block of a book"], false],
  ])) {
    const node = READERS.find(({ name }) => name === "Node");
    const running = await node?.start();
    assert.ok(running);
    const resource = { name: "", kind, isPinned };
    for (const directory of BUILDS[kind]) {
      if (isPinned && directory !== BUILDS[kind][0]) continue;
      const session = await begin(good, running, resource);
      good.directory = directory;
      good.requests.length = 0;
      const outcome = await session.ask();
      assert.ok("answer" in outcome, JSON.stringify(outcome));
      await session.close();
      const shards = good.requests.filter(({ range }) => range !== null);
      assert.equal(shards.length, names.length, JSON.stringify(good.requests));
      shards.forEach(({ path, range }, n) =>
        parts.set(
          `${path.slice(path.lastIndexOf("/") + 1)} ${range}`,
          String(names[n]),
        ),
      );
      if (kind === "evaluations") {
        const known = [
          ...(truth(String(DUMPS[1])).get(START) ?? []),
          ...(directory === BUILDS.evaluations[0] ? [] : ADDED.evals),
        ];
        assert.equal(
          outcome.answer,
          JSON.stringify(known.map(plain).sort()),
          "the answer is that of the dumps",
        );
      }
    }
    await running.close();
  }
});
after(async () => {
  await Promise.all([home, good].map((host) => host.close()));
});

suite(
  "every fault is a right answer or a named error",
  { concurrency: true },
  () => {
    for (const reader of READERS)
      test(`in ${reader.name}`, async () => {
        const bad = await host("");
        Object.assign(bad.shared, SHARED);
        const running = await reader.start();
        const wrong = [];
        try {
          for (const resource of RESOURCES) {
            const rows = ROWS.filter(
              (row) =>
                makesSense(row, resource, reader) &&
                RegExp(process.env.FAULTS_CELLS ?? "").test(
                  `${reader.name}, ${resource.name}, ${row.name}`,
                ),
            );
            if (rows.length === 0) continue;
            const known = await usual(bad, running, resource);
            for (const row of rows)
              wrong.push(
                ...(await run(bad, running, row, resource, reader, known)),
              );
          }
        } finally {
          await running.close();
          await bad.close();
        }
        assert.equal(wrong.join("\n"), "");
      });
  },
);
