// Scores: as text, as winning chances, and the best known score of a position.
import assert from "node:assert/strict";
import { test } from "vitest";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  bestScore,
  countsOver,
  isShallow,
  needsEngine,
  ownScore,
  scoreAfter,
  scoreText,
  winningChances,
} from "../../crate/js/shared/score.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

/**
 * @param {number} depth
 * @param {{ cp: number } | { mate: number }} score
 * @param {string[]} uci
 * @returns {import("shelfish").Evaluation}
 */
const evaluation = (depth, score, uci) => ({
  depth,
  knodes: 500,
  pvs: [{ ...score, score: "", uci }],
});

/** @returns {import("shelfish").PositionEval} */
const answer = (/** @type {import("shelfish").Evaluation} */ best) => ({
  fen: "",
  ...best,
  from: /** @type {const} */ ("database"),
  evaluations: /** @type {[typeof best]} */ ([best]),
});

test("scores have the texts and winning chances of the analysis of games", () => {
  const rows = readFileSync(
    join(ROOT, "crate/analysis/tests/scores.tsv"),
    "utf8",
  )
    .trim()
    .split("\n")
    .slice(1);
  assert.ok(rows.length > 20);
  for (const row of rows) {
    const [value = "", text, chances] = row.split("\t");
    const score = value.startsWith("#")
      ? { mate: Number(value.slice(1)) }
      : { cp: Number(value) };
    assert.equal(scoreText(score), text, row);
    assert.ok(Math.abs(winningChances(score) - Number(chances)) < 1e-11, row);
  }
  assert.throws(() => scoreText({}), /expected \{ cp \} or \{ mate \}/);
});

test("the plies of a line shorten its mate", () => {
  assert.deepEqual(scoreAfter({ cp: 12 }, 7, "white"), { cp: 12 });
  // White mates in 3: five plies, White moves first.
  assert.deepEqual(
    [1, 2, 3, 4].map((plies) => scoreAfter({ mate: 3 }, plies, "white").mate),
    [2, 2, 1, 1],
  );
  assert.deepEqual(
    [1, 2, 3].map((plies) => scoreAfter({ mate: -3 }, plies, "white").mate),
    [-3, -2, -2],
  );
});

test("an evaluation counts by its depth and nodes, as in the analysis of games", () => {
  const rows = readFileSync(
    join(ROOT, "crate/analysis/tests/counts.tsv"),
    "utf8",
  )
    .trim()
    .split("\n")
    .filter((row) => !row.startsWith("#"));
  assert.ok(rows.length > 20);
  for (const row of rows) {
    const fields = row.split("\t");
    const [shallow, counts] = fields.splice(6);
    const number = (/** @type {string | undefined} */ text) =>
      text === "-" ? undefined : Number(text);
    const known = (
      /** @type {string[]} */ [score = "", depth = "", knodes = ""],
    ) => ({
      mate: score.startsWith("#") ? Number(score.slice(1)) : undefined,
      depth: number(depth),
      knodes: number(knodes),
    });
    const [one, other] = [known(fields.slice(0, 3)), known(fields.slice(3))];
    assert.deepEqual(
      [isShallow(one), countsOver(one, other)],
      [shallow === "yes", counts === "yes"],
      row,
    );
  }
});

test("a shallow answer of a database is a hint: the engine searches, and its result counts after more nodes", () => {
  const hint = answer({
    depth: 9,
    knodes: 3,
    pvs: [{ cp: 10, score: "", uci: ["e2e4"] }],
  });
  const engine = (
    /** @type {number} */ depth,
    /** @type {number} */ knodes,
  ) => ({ ...evaluation(depth, { cp: 30 }, ["d2d4"]), knodes });
  assert.equal(bestScore({ database: hint })?.origin, "database");
  assert.equal(
    bestScore({ database: hint, engine: engine(6, 2) })?.origin,
    "database",
  );
  assert.equal(
    bestScore({ database: hint, engine: engine(8, 4) })?.origin,
    "engine",
  );
  assert.equal(
    bestScore({
      database: null,
      pgn: { cp: 5, depth: 12 },
      engine: engine(20, 300),
    })?.origin,
    "engine",
  );
  assert.equal(
    bestScore({
      database: null,
      pgn: { cp: 5, depth: 30 },
      engine: engine(12, 50),
    })?.origin,
    "pgn",
  );
  const deep = answer(evaluation(20, { cp: 10 }, ["e2e4"]));
  assert.equal(
    bestScore({ database: deep, pgn: { cp: 5, depth: 12 } })?.origin,
    "database",
  );
  assert.equal(
    bestScore({ database: deep, engine: engine(30, 4_000) })?.origin,
    "engine",
    "a deeper search has priority",
  );
});

test("rules count before a database, and known nodes before unknown nodes", () => {
  const evals = {
    ending: { result: "1-0", winner: /** @type {const} */ ("white") },
    database: answer(evaluation(20, { cp: 10 }, ["e2e4"])),
    pgn: { cp: 20, depth: 30 },
    engine: evaluation(14, { cp: 30 }, ["d2d4"]),
  };
  assert.deepEqual(bestScore(evals), {
    origin: "rules",
    text: "1-0",
    chances: 1,
    line: [],
  });
  const { ending: _, ...others } = evals;
  assert.deepEqual(
    [
      bestScore(others)?.origin,
      bestScore(others)?.text,
      bestScore(others)?.depth,
    ],
    ["database", "+0.10", 20],
  );
  assert.deepEqual(bestScore({ ...others, database: null })?.origin, "pgn");
  assert.deepEqual(bestScore({ engine: evals.engine })?.origin, "engine");
  assert.equal(
    bestScore({ engine: { ...evals.engine, from: "stockfish" } })?.origin,
    "stockfish",
  );
  assert.equal(bestScore({}), undefined);
});

test("an engine searches what the rules, a database, a PGN and a deeper line do not evaluate", () => {
  const found = answer(evaluation(16, { cp: 10 }, ["e2e4"]));
  const hint = answer(evaluation(9, { cp: 10 }, ["e2e4"]));
  const earlier = [
    {
      uci: "e2e4",
      turn: /** @type {const} */ ("white"),
      database: answer(evaluation(30, { cp: 10 }, ["e2e4", "e7e5"])),
    },
  ];
  /** @type {[import("../../crate/js/shared/score.ts").PositionEvals, boolean][]} */
  const cases = [
    [{}, false],
    [{ database: null }, true],
    [{ isUnreachable: true }, true],
    [{ isUnreachable: false }, false],
    [{ database: found }, false],
    [{ database: found, isUnreachable: true }, false],
    [{ database: hint }, true],
    [{ database: hint, isUnreachable: true }, true],
    [{ database: hint, earlier }, false],
    [{ database: null, pgn: { cp: 3 } }, false],
    [{ database: null, pgn: { cp: 3, depth: 12 } }, true],
    [{ database: null, ending: { result: "1-0" } }, false],
    [{ database: null, engine: evaluation(20, { cp: 1 }, ["e7e5"]) }, true],
    [{ database: null, earlier }, false],
    [
      { database: null, earlier, engine: evaluation(30, { cp: 1 }, ["e7e5"]) },
      true,
    ],
  ];
  for (const [evals, expected] of cases)
    assert.equal(needsEngine(evals), expected, JSON.stringify(evals));
});

test("the line of an earlier position counts if it is deeper than the engine", () => {
  const line = answer(evaluation(30, { mate: 3 }, ["e2e4", "e7e5", "d1h5"]));
  const earlier = [
    { uci: "e7e5", turn: /** @type {const} */ ("black"), database: null },
    { uci: "e2e4", turn: /** @type {const} */ ("white"), database: line },
  ];
  const engine = evaluation(12, { cp: 5 }, ["g1f3"]);
  const best = bestScore({ engine, earlier });
  assert.deepEqual(
    [best?.origin, best?.mate, best?.line],
    ["line", 2, ["d1h5"]],
  );
  assert.equal(ownScore({ engine, earlier })?.origin, "engine");
  assert.equal(
    bestScore({ engine: { ...engine, depth: 30 }, earlier })?.origin,
    "engine",
  );
  const others = earlier.map((position, n) =>
    n === 0 ? { ...position, uci: "e7e6" } : position,
  );
  assert.equal(bestScore({ earlier: others }), undefined);
});
