import { beforeAll, describe, expect, it } from "vitest";
import { path } from "../src/game/game";
import { read } from "../src/game/read-pgn";
import { loadOpenings, openingName } from "../src/moves/openings";

const after = async (moves: string) => {
  const [game] = (await read(moves)).games;
  return openingName(path(game!.mainline().at(-1)!));
};

describe("the name of an opening", () => {
  it("is unknown before the table is loaded", async () => {
    expect(await after("1. e4 c5")).toBeUndefined();
  });

  describe("with the table", () => {
    beforeAll(loadOpenings);

    it("is the name of the last named position, and is missing without such a position", async () => {
      expect(
        (await after("1. e4 c5 2. Ke2 Qa5 3. Kd3 Qa3+ 4. Kc4 Nc6"))?.name,
      ).toMatch(/^Sicilian Defense/);
      expect(
        await after('[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n\n1. e4 *'),
      ).toBeUndefined();
    });
  });
});
