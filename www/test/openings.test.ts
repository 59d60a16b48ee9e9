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

    it("belongs to the position, not to the order of the moves", async () => {
      expect(await after("1. Nf3 d5 2. d4 Nf6 3. c4 e6 4. Nc3")).toEqual(
        await after("1. d4 d5 2. c4 e6 3. Nc3 Nf6 4. Nf3"),
      );
    });

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
