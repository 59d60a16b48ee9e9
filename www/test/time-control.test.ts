import { expect, it } from "vitest";
import { speedOf, stagesOf } from "../src/game/time-control";

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
