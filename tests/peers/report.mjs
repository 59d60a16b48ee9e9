// Formats the measurements as a table in Markdown and compares the systems.
import {
  mean,
  quantile as quantileOf,
  table,
} from "../browser/support/bench.mjs";

/** @typedef {{ ms: number, requests: number, bytes: number }} Cost */

/** @type {(costs: Cost[], key: keyof Cost, share?: number) => number} */
const quantile = (costs, key, share = 0.5) =>
  quantileOf(
    costs.map((cost) => cost[key]),
    share,
  );

export function report(results, about) {
  const systems = Object.values(results);
  const { shelfish } = results;

  const ms = (value) => (value < 10 ? value.toFixed(1) : value.toFixed(0));
  const kB = (bytes) =>
    `${bytes < 9_950 ? (bytes / 1000).toFixed(1) : Math.round(bytes / 1000).toLocaleString("en")} kB`;
  const times = (key) => (system) =>
    `${ms(quantile(system[key], "ms"))} / ${ms(quantile(system[key], "ms", 0.9))}`;
  const traffic = (key) => (system) => {
    const [requests, bytes] = ["requests", "bytes"].map((what) =>
      mean(system[key].map((cost) => cost[what])),
    );
    return `${requests.toFixed(1)}, ${kB(bytes)}`;
  };
  const rows = [
    [
      "library before the first answer, Brotli (unpacked)",
      ({ library: { raw, sent } }) => `${kB(sent)} (${kB(raw)})`,
    ],
    [
      "database, bytes a position",
      ({ bytesAPosition }) => bytesAPosition.toFixed(1),
    ],
    ["cold lookup, library loaded: ms, median / p90", times("cold")],
    ["cold lookup: requests, bytes", traffic("cold")],
    ["first answer of a fresh page, from its navigation: ms", times("first")],
    ["next position, warm: ms", times("near")],
    ["next position, warm: requests, bytes", traffic("near")],
    ["same position again: ms", times("again")],
    ["whole game, cold: ms", times("game")],
    ["whole game, cold: requests, bytes", traffic("game")],
    ["62 positions of one game, all known, cold: ms", times("known")],
    [
      "62 positions of one game, all known, cold: requests, bytes",
      traffic("known"),
    ],
  ];
  const behind = (system) =>
    system === shelfish
      ? "1"
      : ["cold", "near", "game", "known"]
          .map((key) =>
            ms(quantile(system[key], "ms") / quantile(shelfish[key], "ms")),
          )
          .join(" / ");
  rows.push([
    "as long as ours: cold / next / game / known game, times",
    behind,
  ]);

  const [shortest, longest] = [
    Math.min(...about.games),
    Math.max(...about.games),
  ];
  return [
    `${about.date}, ${about.chromium ? `Chromium ${about.chromium}` : ""}, Node ${about.node}, ${about.cores} cores; ` +
      `${about.positions.toLocaleString("en")} positions; ${about.network}; ` +
      `${about.lookups} lookups, ${about.games.length} games of ${shortest} to ${longest} positions (mean ${Math.round(mean(about.games))}, ` +
      `${Math.round((100 * about.present) / about.games.reduce((sum, length) => sum + length, 0))} % of them in the database), ${about.known} runs of 62 positions that are all in it. ` +
      `All ${about.checked.toLocaleString("en")} answers were compared with the dump: ${about.wrong || "none"} wrong.`,
    "",
    table(
      ["", ...systems.map(({ name }) => name)],
      rows.map(([label, cell]) => [label, ...systems.map(cell)]),
    ),
    "",
    "Settings:",
    "",
    ...systems.map(({ name, settings }) => `- ${name}: ${settings}.`),
    "",
    `Command: \`${about.command}\``,
    "",
  ].join("\n");
}
