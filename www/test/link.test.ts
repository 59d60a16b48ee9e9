import { describe, expect, it } from "vitest";
import { Game, parseMove } from "../src/game";
import { read } from "../src/input";
import { format, parse } from "../src/link";

const opera = () => {
  const [source] = read("1. e4 e5 2. Nf3 d6 3. d4 Bg4 *").games;
  const game = new Game(undefined, source!.headers, "opera");
  source!.mainline().reduce((at, node) => (node.move ? game.play(at, node.move) : at), game.root);
  game.sourcePlies = source!.sourcePlies;
  return game;
};
const find = (slug: string) => (slug === "opera" ? opera() : undefined);
const sans = (game: Game) => game.mainline().map((node) => node.san).join(" ").trim();

describe("a link", () => {
  it("is empty for an untouched board", () => {
    const game = new Game();
    expect(format(game, game.root)).toBe("");
    expect(parse("", find).node.fen).toBe(game.root.fen);
  });

  it("holds the moves and the ply of a board played on", () => {
    const [game] = read("e4 e5").games;
    const link = format(game!, game!.mainline()[1]!);
    expect(link).toBe("moves=e2e4,e7e5&ply=1");
    const back = parse(link, find);
    expect(sans(back.game)).toBe("e4 e5");
    expect(back.node.san).toBe("e4");
  });

  it("names a famous game, and the moves that leave it", () => {
    const game = opera();
    const third = game.mainline()[3]!;
    expect(format(game, third)).toBe("game=opera&ply=3");
    const aside = game.play(third, parseMove(third.position, "Nc6")!);
    expect(format(game, aside)).toBe("game=opera&ply=3&line=b8c6");
    expect(parse("#game=opera&ply=3&line=b8c6", find).node.san).toBe("Nc6");
    const last = game.mainline().at(-1)!;
    const beyond = game.play(last, parseMove(last.position, "dxe5")!);
    expect(format(game, beyond)).toBe("game=opera&ply=6&line=d4e5");
  });

  it("holds a position", () => {
    const [game] = read("8/8/8/4k3/8/4K3/4P3/8 w - - 0 1").games;
    const link = format(game!, game!.root);
    expect(link).toBe("fen=8/8/8/4k3/8/4K3/4P3/8_w_-_-_0_1");
    expect(parse(link, find).node.fen).toBe(game!.root.fen);
    expect(parse(encodeURI(link), find).node.fen).toBe(game!.root.fen);
  });

  it("is refused when it makes no sense", () => {
    expect(() => parse("game=nobody", find)).toThrow(/not here/);
    expect(() => parse("moves=e2e5", find)).toThrow(/not legal/);
    expect(() => parse("fen=8/8", find)).toThrow(/FEN/);
    expect(parse("ply=99&%%%", find).node.ply).toBe(0);
    expect(parse("game=opera&ply=9999", find).node.ply).toBe(6);
  });
});
