import { describe, expect, it } from "vitest";
import { read } from "../src/game/read-pgn";
import { speedOf, stagesOf } from "../src/game/time-control";
import { moveTimes, timeText } from "../src/report/move-times";

/** Returns the times of a game whose comments are after its moves. */
async function times(
  control: string | undefined,
  ...comments: string[]
): Promise<(number | undefined)[]> {
  const moves = ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6"];
  const tag = control === undefined ? "" : `[TimeControl "${control}"]\n\n`;
  const text = moves
    .slice(0, comments.length)
    .map((move, ply) => `${move} { ${comments[ply]} }`)
    .join(" ");
  const game = (await read(`${tag}${text} *`)).games[0]!;
  return moveTimes(game.mainline(), game.headers.get("TimeControl")).slice(1);
}

const clocks = (...left: string[]) =>
  left.map((each) => (each ? `[%clk ${each}]` : ""));

describe("the time of a move", () => {
  it("is the difference of the mover's clocks, plus the increment", async () => {
    expect(
      await times(
        "300+5",
        ...clocks(
          "0:05:00",
          "0:05:00",
          "0:04:50",
          "0:05:03.5",
          "0:04:55",
          "0:04:58.5",
        ),
      ),
    ).toEqual([undefined, undefined, 15, 1.5, 0, 10]);
  });

  it("begins with the first move if nothing is added", async () => {
    expect(
      await times("180", ...clocks("0:02:59.5", "0:02:50", "0:02:30")),
    ).toEqual([0.5, 10, 29.5]);
  });

  it("is the value of [%emt], regardless of the clock", async () => {
    expect(
      await times(
        undefined,
        "[%emt 0:00:07]",
        "[%emt 0:01:02.5] [%clk 0:01:00]",
      ),
    ).toEqual([7, 62.5]);
  });

  it("is unknown without a time control, and after a clock that is missing or malformed", async () => {
    expect(
      await times(
        undefined,
        ...clocks("0:05:00", "0:05:00", "0:04:00", "0:04:00"),
      ),
    ).toEqual([undefined, undefined, undefined, undefined]);
    expect(
      await times("?", ...clocks("0:05:00", "0:05:00", "0:04:00")),
    ).toEqual([undefined, undefined, undefined]);
    expect(
      await times(
        "300",
        "[%clk 0:04:58]",
        "[%clk soon]",
        "",
        "[%clk 0:04:00]",
        "[%clk 0:04:20]",
        "[%clk 0:03:50]",
      ),
    ).toEqual([2, undefined, undefined, undefined, undefined, 10]);
  });

  it("is never negative: rounded seconds count as 0, and added time is unknown", async () => {
    expect(
      await times(
        "60",
        ...clocks(
          "0:00:50",
          "0:00:50",
          "0:00:51",
          "0:01:05",
          "0:00:40",
          "0:01:00",
        ),
      ),
    ).toEqual([10, 10, 0, undefined, 11, 5]);
  });

  it("counts the time of the next stage once, after the last move of a stage", async () => {
    expect(
      await times(
        "2/100+10:50+10",
        ...clocks(
          "0:01:30",
          "0:01:30",
          "0:01:50",
          "0:01:20",
          "0:01:30",
          "0:02:00",
        ),
      ),
    ).toEqual([undefined, undefined, 40, 20, 30, 20]);
  });

  it("is the part of the move's own time in a correspondence game", async () => {
    expect(
      await times(
        "1/259200",
        ...clocks("70:00:00", "71:59:00", "71:00:00", "72:00:01"),
      ),
    ).toEqual([7_200, 60, 3_600, 0]);
    expect(
      await times("-", ...clocks("70:00:00", "71:00:00", "69:00:00")),
    ).toEqual([undefined, undefined, undefined]);
  });
});

it("time controls are read strictly", () => {
  expect(stagesOf("40/5400+30:1800+30")).toEqual([
    { moves: 40, base: 5_400, increment: 30 },
    { moves: undefined, base: 1_800, increment: 30 },
  ]);
  for (const malformed of [
    undefined,
    "",
    "-",
    "?",
    "*180",
    "300+",
    "x",
    "300+5:",
    "1:2:3:4:5:6",
  ])
    expect(stagesOf(malformed)).toBeUndefined();
});

it("time controls have the speeds of Lichess", () => {
  const controls = [
    "60",
    "120+1",
    "180",
    "300+3",
    "479",
    "480",
    "600+5",
    "900+15",
    "1500",
    "40/5400+30:1800+30",
    "1/86400",
    "86400",
  ];
  expect(controls.map(speedOf)).toEqual([
    "bullet",
    "bullet",
    "blitz",
    "blitz",
    "blitz",
    "rapid",
    "rapid",
    "classical",
    "classical",
    "classical",
    "correspondence",
    "correspondence",
  ]);
  expect([undefined, "-", "?"].map(speedOf)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

it("durations have at most two units", () => {
  expect(
    [0, 0.4, 9.96, 12, 59.6, 60, 247, 3_599.7, 3_900, 86_400, 183_600].map(
      timeText,
    ),
  ).toEqual([
    "0 s",
    "0.4 s",
    "10 s",
    "12 s",
    "1 min",
    "1 min",
    "4 min 7 s",
    "1 h",
    "1 h 5 min",
    "1 d",
    "2 d 3 h",
  ]);
});
