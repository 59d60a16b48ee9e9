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

    it.each([
      ["1. e4", "B00", "King's Pawn Game"],
      [
        "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6",
        "B90",
        "Sicilian Defense: Najdorf Variation",
      ],
      [
        "1. e4 e5 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3",
        "C41",
        "Philidor Defense",
      ],
    ])("of %s is %s", async (moves, eco, name) => {
      expect(await after(moves)).toMatchObject({
        eco,
        name: expect.stringContaining(name),
      });
    });

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
