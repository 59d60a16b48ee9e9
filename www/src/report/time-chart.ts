/** The times of the moves: bars of both sides along the game, and the longest thoughts in words. */
import { moveNumber, type Node } from "../game/game";
import { byId, make } from "../shell/dom";
import type { State } from "../state/state";
import { plural } from "../text/units";
import { timeText } from "./move-times";

const SVG = "http://www.w3.org/2000/svg";
/** Height of a bar of the longest time. */
const HEIGHT = 24;
/** Number of moves that are named. */
const LONGEST = 3;

/** The times of a side. */
export interface SideTimes {
  /** Sum in seconds. */
  total: number;
  /** Number of moves with a known time. */
  moves: number;
}

/** Sums the known times of a side from ply `from` to before ply `to`. Ply 1 is the first move. Returns `undefined` without a known time. */
export function sumOf(
  line: readonly Node[],
  times: readonly (number | undefined)[],
  side: "white" | "black",
  from = 1,
  to = line.length,
): SideTimes | undefined {
  const known = times.flatMap((time, ply) =>
    ply >= from &&
    ply < to &&
    time !== undefined &&
    line[ply]?.parent?.position.turn === side
      ? [time]
      : [],
  );
  return known.length > 0
    ? { total: known.reduce((sum, time) => sum + time, 0), moves: known.length }
    : undefined;
}

/** Draws the times of the main line. Returns nothing if no time is known. */
export function timeChart(
  state: State,
  line: readonly Node[],
  times: readonly (number | undefined)[],
): HTMLElement[] {
  const known = times.flatMap((time, ply) =>
    time === undefined ? [] : [{ time, ply }],
  );
  const longest = Math.max(0, ...known.map(({ time }) => time));
  if (longest === 0) return [];
  const svg = document.createElementNS(SVG, "svg");
  const path = (side: "white" | "black") => {
    const bars = known.flatMap(({ time, ply }) => {
      if (line[ply]?.parent?.position.turn !== side) return [];
      // The square root keeps short times visible.
      const height = Math.max(0.5, HEIGHT * Math.sqrt(time / longest)).toFixed(
        1,
      );
      return [
        `M${ply - 1} ${HEIGHT}v${side === "white" ? "-" : ""}${height}h1v${side === "white" ? "" : "-"}${height}z`,
      ];
    });
    const shape = document.createElementNS(SVG, "path");
    shape.setAttribute("class", side);
    shape.setAttribute("d", bars.join(""));
    return shape;
  };
  svg.setAttribute("viewBox", `0 0 ${line.length - 1} ${2 * HEIGHT}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  svg.append(path("white"), path("black"));
  const spoken = (["white", "black"] as const).flatMap((side) => {
    const sum = sumOf(line, times, side);
    return sum
      ? [
          `${side === "white" ? "White" : "Black"} ${timeText(sum.total)} for ${plural(sum.moves, "move")}`,
        ]
      : [];
  });
  const chart = make("div", {
    className: "times",
    role: "img",
    "aria-label": `Time for each move: ${spoken.join(", ")}.`,
    "data-testid": "times",
  });
  chart.append(svg);
  chart.addEventListener("click", ({ clientX }) => {
    const { left, width } = chart.getBoundingClientRect();
    state.go(
      line[
        1 +
          Math.min(
            line.length - 2,
            Math.max(
              0,
              Math.floor(((clientX - left) / width) * (line.length - 1)),
            ),
          )
      ],
    );
    byId("graph").focus({ preventScroll: true });
  });
  const named = known
    .filter(({ time }) => time > 0)
    .sort((a, b) => b.time - a.time)
    .slice(0, LONGEST)
    .map(({ time, ply }) => {
      const node = line[ply]!;
      const button = make(
        "button",
        { type: "button", className: "long" },
        `${moveNumber(node.parent!.position)} ${node.san}: ${timeText(time)}`,
      );
      button.addEventListener("click", () => state.go(node));
      return button;
    });
  return [
    chart,
    make(
      "p",
      { className: "longest", "data-testid": "longest" },
      "Longest: ",
      ...named,
    ),
  ];
}
