// The matrix of faults, resources and readers. Each cell is a right answer or a named error, within limits of time and requests.
// `FAULTS_READERS` and `FAULTS_CELLS` select readers and “resource, fault” by a pattern. With `FAULTS_VERBOSE`, each cell prints its outcome.
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
import { START } from "../browser/support/lab.mjs";
import { DUMPS, ROOT } from "../browser/support/paths.mjs";
import { plain, truth } from "../browser/support/truth.mjs";
import { until } from "../browser/support/until.mjs";
import {
  RESOURCES,
  ROWS,
  isUndecoded,
  limit,
  omission,
} from "./support/cells.mjs";
import { counts, matrix } from "./support/print.mjs";
import { READERS } from "./support/readers.mjs";

/**
 * @typedef {import("./support/cells.mjs").Resource} Resource
 * @typedef {import("./support/cells.mjs").Row} Row
 * @typedef {import("./support/cells.mjs").Result} Result
 * @typedef {import("./support/readers.mjs").Reader} Reader
 * @typedef {import("./support/readers.mjs").Outcome} Outcome
 * @typedef {Awaited<ReturnType<typeof host>>} Host
 */

const ALL = process.env.SHELFISH_LONG === "1";
/** Seconds that a request has if only a time-out ends it, and otherwise. A busy machine may need longer for a right answer. */
const SHORT = 1;
const LONG = 20;
/** The same for modules and scripts, which some browsers never report as broken. */
const SCRIPT = 5;

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

const buildsOf = (/** @type {Resource} */ { kind, script }) =>
  script ? [serverRoot()] : BUILDS[kind === "book" ? "book" : "evaluations"];

/** Names of the parts of the databases, by file and range. @type {Map<string, string>} */
const parts = new Map();

/** Returns the name of the resource that a request asks for. */
function resourceOf(
  /** @type {{ path: string, range: string | null }} */ { path, range },
) {
  const file = path.slice(path.lastIndexOf("/") + 1);
  return file === "manifest.json"
    ? "manifest"
    : (parts.get(`${file} ${range}`) ??
        RESOURCES.find(({ script }) => script === file)?.name ??
        "other");
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
/** The results so far. @type {Result[]} */
const results = [];
let cells = 0;

/**
 * Begins a question on a host.
 * @param {Host} bad
 * @param {Awaited<ReturnType<Reader["start"]>>} running
 */
function begin(bad, running, /** @type {Resource} */ resource, timeout = LONG) {
  const { kind, isPinned, script } = resource;
  const [directory = ""] = buildsOf(resource);
  // A path of its own, because browsers keep answers and redirects.
  const folder = `${bad.url}shelf/${cells++}/`;
  bad.directory = directory;
  bad.older = [];
  bad.rewrite = script
    ? (path) => path.replace(/^.*\/shelf\/\d+\//, "/")
    : (path) => path.slice(path.lastIndexOf("/"));
  const integrity = isPinned ? pinOf(directory) : undefined;
  return running.begin({
    kind,
    url: script ? `${folder}famous/` : folder,
    page: script ? folder : home.url,
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

/** Runs a cell. @returns {Promise<Result>} */
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
    row.isSlow ? SHORT : resource.script ? SCRIPT : LONG,
  );
  const [oldest = "", newest = ""] = buildsOf(resource);
  const fault = row.fault?.();
  /** Times of the requests for the resource. @type {number[]} */
  const times = [];
  /** The answers with the fault. @type {import("node:http").ServerResponse[]} */
  const faulty = [];
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
    const isOn = fault && isFaulty && faulty.length < (row.times ?? Infinity);
    if (isOn) faulty.push(exchange.response);
    (isOn ? fault : rightly)(exchange);
  };
  const begun = performance.now();
  const outcome = await session.ask();
  const elapsed = performance.now() - begun;
  const requests = bad.requests.length;
  const asked = times.length;
  bad.fault = bad.manifestFault = undefined;
  bad.heard = () => {};
  // A browser waits for the first answer to a script before it requests the script again.
  for (const response of faulty)
    if (!response.writableFinished) response.destroy();

  /** @type {string[]} */
  const problems = [];
  const most = limit(row, resource, reader);
  // A browser does not report some faults of scripts, and does not ask for a script again.
  const isUnseen = resource.script && row.only !== "hashes";
  if ("answer" in outcome) {
    if (!answers.includes(outcome.answer))
      problems.push(`WRONG ANSWER ${outcome.answer.slice(0, 300)}`);
    if (row.codes && !row.build && !isUnseen)
      problems.push(`an answer instead of ${row.codes.join(" or ")}`);
  } else {
    const codes = isUndecoded(row, resource, reader)
      ? ["network"]
      : isUnseen
        ? [
            "network",
            "timeout",
            "engine",
            ...(resource.isHashed ? ["corrupt"] : []),
          ]
        : (row.codes ?? []);
    const isManifest = resource.name === "manifest" && row.times === 1;
    if (!codes.includes(outcome.error) && !isManifest)
      problems.push(
        `${outcome.error}, expected ${codes.join(" or ") || "an answer"}`,
      );
    if (
      row.isAnswered &&
      !isUnseen &&
      !isManifest &&
      !codes.includes("network")
    )
      problems.push("an error instead of an answer");
  }
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
  // A browser does not say why a script is missing. The next call tries again.
  if (
    row.pause &&
    !resource.script &&
    pauses.some((pause) => pause < Number(row.pause) - 20)
  )
    problems.push(
      `a pause of ${Math.min(...pauses).toFixed()} ms, expected ${row.pause} ms`,
    );
  if (process.env.FAULTS_VERBOSE)
    console.log(
      `${reader.name} | ${resource.name} | ${row.name} | ${JSON.stringify(outcome).slice(0, 260)} | ${asked} of ${requests} requests | ${elapsed.toFixed()} ms`,
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
  const isPatient = row.isSlow || resource.script;
  if (
    !isForGood &&
    !(await recovers()) &&
    !(
      isPatient &&
      (await until(
        recovers,
        () =>
          `${resource.name}, ${row.name}: afterwards ${JSON.stringify(last)}`,
      ))
    )
  )
    problems.push(`afterwards ${JSON.stringify(last).slice(0, 300)}`);
  await session.close();
  return {
    row,
    resource,
    reader,
    outcome,
    requests,
    isRepeated: requests > expected,
    problems,
  };
}

/** The cells of each reader. @type {Map<Reader, { row: Row, resource: Resource }[]>} */
const plan = new Map(
  READERS.filter(({ name }) =>
    RegExp(process.env.FAULTS_READERS ?? "").test(name),
  ).map((reader) => [reader, []]),
);
for (const [number, row] of ROWS.entries()) {
  const readers = READERS.filter((reader) =>
    RESOURCES.some((resource) => !omission(row, resource, reader)),
  );
  for (const [place, reader] of readers.entries()) {
    const resources = RESOURCES.filter(
      (resource) => !omission(row, resource, reader),
    );
    // In the short run each fault has one cell, in turn of each reader and each resource.
    const isTurn = place === number % readers.length;
    const isAsked = (/** @type {Resource} */ { name }) =>
      RegExp(process.env.FAULTS_CELLS ?? "").test(`${name}, ${row.name}`);
    const chosen = ALL
      ? resources.filter(isAsked)
      : isTurn
        ? resources.slice(number % resources.length).slice(0, 1)
        : [];
    plan.get(reader)?.push(...chosen.map((resource) => ({ row, resource })));
  }
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
  const readers = [...plan.keys()].filter(
    (reader) => reader.missing.length === 0,
  );
  console.log(ALL ? matrix(readers, results) : counts(results));
});

suite(
  "every fault is a right answer or a named error",
  { concurrency: true },
  () => {
    for (const [reader, cells] of plan) {
      const skip =
        reader.missing.length > 0 &&
        `NOT TESTED in ${reader.name}: ${reader.missing.join(", ")} not found`;
      if (skip) console.error(skip);
      test(
        `in ${reader.name}: ${cells.length} cells`,
        { skip: skip || cells.length === 0 },
        async () => {
          const bad = await host("");
          Object.assign(bad.shared, SHARED);
          const running = await reader.start();
          try {
            for (const resource of RESOURCES) {
              const rows = cells.filter((cell) => cell.resource === resource);
              if (rows.length === 0) continue;
              const known = await usual(bad, running, resource);
              for (const { row } of rows)
                results.push(
                  await run(bad, running, row, resource, reader, known),
                );
            }
          } finally {
            await running.close();
            await bad.close();
          }
          const wrong = results.filter(
            (result) => result.reader === reader && result.problems.length > 0,
          );
          const lines = wrong.map(
            ({ row, resource, outcome, problems }) =>
              `${resource.name}, ${row.name}: ${problems.join("; ")} (${JSON.stringify(outcome).slice(0, 300)})`,
          );
          assert.equal(lines.join("\n"), "");
        },
      );
    }
  },
);
