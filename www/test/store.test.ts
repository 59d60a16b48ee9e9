import { describe, expect, it } from "vitest";
import { openStore, type Stored } from "../src/games/game-store";

const game = (
  id: string,
  opened: number,
  text = "1. e4 *",
  source?: string,
): Stored => ({
  ...{
    id,
    white: "",
    black: "",
    event: "",
    date: "",
    result: "",
    opening: "",
    plies: 1,
    opened,
    size: text.length,
    text,
  },
  ...(source ? { source } : {}),
});
const ids = async (store: Awaited<ReturnType<typeof openStore>>) =>
  (await store.list()).map(({ id }) => id);

// There is no IndexedDB here, as in some private windows; tests/browser/games.test.mjs has it.
describe("the games that were opened", () => {
  it("are listed once, newest first, with the longer text", async () => {
    const store = await openStore();
    expect(store.isLasting).toBe(false);
    await store.keep([game("a", 1, "1. e4 {long} *"), game("b", 2)]);
    await store.keep([game("a", 3)]);
    expect(await ids(store)).toEqual(["a", "b"]);
    expect((await store.find("a"))?.text).toBe("1. e4 {long} *");
    await store.keep([
      game("b", 4, "1. e4 {longer still} *", "lichess:q7ZvsdUF"),
    ]);
    expect(await ids(store)).toEqual(["b", "a"]);
    expect((await store.find("lichess:q7ZvsdUF"))?.text).toBe(
      "1. e4 {longer still} *",
    );
  });

  it("are removed, oldest first, if they exceed the limits", async () => {
    const store = await openStore({ games: 3, characters: 100 });
    expect(
      await store.keep([
        game("a", 1),
        game("b", 2),
        game("c", 3),
        game("d", 4),
      ]),
    ).toBe(1);
    expect(await ids(store)).toEqual(["d", "c", "b"]);
    expect(await store.keep([game("e", 5, "x".repeat(90))])).toBe(2);
    expect(await ids(store)).toEqual(["e", "d"]);
  });

  it("can be removed", async () => {
    const store = await openStore();
    await store.keep([game("a", 1), game("b", 2)]);
    await store.remove("a");
    expect([await ids(store), (await store.find("a"))?.text]).toEqual([
      ["b"],
      undefined,
    ]);
    await store.clear();
    expect(await ids(store)).toEqual([]);
  });
});
