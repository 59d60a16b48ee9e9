// The matrix as tables of Markdown.
import { RESOURCES, ROWS, omission } from "./cells.mjs";

/**
 * @typedef {import("./cells.mjs").Resource} Resource
 * @typedef {import("./cells.mjs").Row} Row
 * @typedef {import("./readers.mjs").Reader} Reader
 * @typedef {import("./cells.mjs").Result} Result
 */

/** Returns the text of a cell: the outcome, and the number of requests if the question took more than without the fault. */
function cell(
  /** @type {Result} */ { outcome, requests, isRepeated, problems },
) {
  const name = "answer" in outcome ? "answer" : `\`${outcome.error}\``;
  return `${problems.length > 0 ? "**FAILED** " : ""}${name}${isRepeated ? `, ${requests} requests` : ""}`;
}

/** Returns the table of a resource. A cell without a result was not run. */
function table(
  /** @type {Resource} */ resource,
  /** @type {Reader[]} */ readers,
  /** @type {Result[]} */ results,
) {
  const columns = readers.filter((reader) =>
    ROWS.some((row) => !omission(row, resource, reader)),
  );
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(" | ")} |`;
  const rows = ROWS.map((row) => {
    const cells = columns.map((reader) => {
      const found = results.find(
        (result) =>
          result.row === row &&
          result.resource === resource &&
          result.reader === reader,
      );
      if (found) return cell(found);
      return omission(row, resource, reader) ? "–" : "not run";
    });
    return line([row.name, ...cells]);
  });
  return [
    `### ${resource.name}`,
    "",
    line(["fault", ...columns.map(({ name }) => name)]),
    `|${"---|".repeat(columns.length + 1)}`,
    ...rows,
  ].join("\n");
}

/** Returns the counts of the results. */
export function counts(/** @type {Result[]} */ results) {
  const of = (/** @type {(result: Result) => boolean} */ holds) =>
    results.filter(holds).length;
  const answers = of(
    ({ outcome, problems }) =>
      "answer" in outcome &&
      !problems.some((problem) => problem.startsWith("WRONG")),
  );
  const wrong = of(({ problems }) =>
    problems.some((problem) => problem.startsWith("WRONG")),
  );
  const hangs = of(
    ({ outcome }) => "error" in outcome && outcome.error === "HANG",
  );
  const most = Math.max(0, ...results.map(({ requests }) => requests));
  const named = of(
    ({ outcome }) => "error" in outcome && /^[a-z]+$/.test(outcome.error),
  );
  return (
    `${results.length} cells: ${answers} right answers, ${named} named errors, ${wrong} wrong answers, ${hangs} hangs, ` +
    `at most ${most} requests for a question`
  );
}

/** Returns the tables of all resources, and the reasons of the cells without a question. */
export function matrix(
  /** @type {Reader[]} */ readers,
  /** @type {Result[]} */ results,
) {
  const omitted = RESOURCES.flatMap((resource) =>
    readers.flatMap((reader) =>
      ROWS.map((row) => omission(row, resource, reader)),
    ),
  );
  const reasons = [
    ...new Set(omitted.filter((reason) => reason !== undefined)),
  ];
  const tables = RESOURCES.map((resource) => table(resource, readers, results));
  return [
    ...tables,
    ["“–”:", ...reasons.map((reason) => `- ${reason}`)].join("\n"),
    counts(results),
  ].join("\n\n");
}
