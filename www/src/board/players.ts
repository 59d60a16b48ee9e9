/** The names, ratings, material, clocks and points of the players, above and below the board. */
import type { Color, Role } from "chessops/types";
import { byId, make } from "../shell/dom";
import { ending, type Node } from "../game/game";
import { capitalised, clockText, plural } from "../text/words";
import type { State } from "../state/state";
import type { Position } from "chessops/chess";
import { opposite } from "chessops/util";

export class Players {
  readonly #material = { white: materialSlot(), black: materialSlot() };
  readonly #clocks = {
    white: make("span", "clock"),
    black: make("span", "clock"),
  };
  #below: Color = "white";

  constructor(private readonly state: State) {
    state.on(({ game, node, tree }) => {
      if (game || tree) this.#draw();
      if (node) this.#tick();
    });
  }

  /** Puts a side at the bottom. */
  turn(below: Color): void {
    this.#below = below;
    this.#draw();
  }

  #draw(): void {
    for (const color of ["white", "black"] as const) {
      const { headers } = this.state.game;
      const side = capitalised(color);
      const title = headers.get(`${side}Title`);
      const name = make(
        "span",
        { className: "name", title: headers.get(side) ?? side },
        headers.get(side) ?? side,
      );
      const parts = [
        make("i", { className: `colour ${color}`, "aria-hidden": "true" }),
        ...(title ? [make("span", "title", title)] : []),
        name,
      ];
      const rating = headers.get(`${side}Elo`);
      if (rating) parts.push(make("span", "rating", rating));
      parts.push(
        this.#material[color],
        this.#clocks[color],
        make("span", "points", points(this.#result(), color)),
      );
      byId(
        color === this.#below ? "player-below" : "player-above",
      ).replaceChildren(...parts);
    }
  }

  #result(): string | undefined {
    const said = this.state.game.headers.get("Result");
    if (said) return said;
    const end = this.state.game.mainline().at(-1);
    return end && ending(end.position)?.result;
  }

  #tick(): void {
    const { node } = this.state;
    for (const color of ["white", "black"] as const) {
      const text = clock(node, color);
      const slot = this.#clocks[color];
      if (slot.textContent !== text) slot.textContent = text;
      slot.classList.toggle(
        "running",
        text !== "" && node.position.turn === color,
      );
      drawMaterial(this.#material[color], node.position, color);
    }
  }
}

/** Returns the time on a player's clock in this position. */
const materialSlot = () =>
  make("span", { className: "material", role: "img", hidden: true });

function clock(node: Node, color: Color): string {
  let at: Node | undefined = node;
  // The last move of the player is at most two plies earlier.
  for (let up = 0; up < 3 && at?.parent; up++, at = at.parent)
    if (at.parent.position.turn === color && at.notes.clock !== undefined)
      return clockText(Math.floor(at.notes.clock));
  return "";
}

const POINTS: Record<string, readonly [white: string, black: string]> = {
  "1-0": ["1", "0"],
  "0-1": ["0", "1"],
  "1/2-1/2": ["½", "½"],
  "½-½": ["½", "½"],
};

const points = (result: string | undefined, color: Color): string =>
  POINTS[result ?? ""]?.[color === "white" ? 0 : 1] ?? "";

/** Values in pawns, and signs. */
const PIECES: readonly (readonly [role: Role, value: number, sign: string])[] =
  [
    ["queen", 9, "♛"],
    ["rook", 5, "♜"],
    ["bishop", 3, "♝"],
    ["knight", 3, "♞"],
    ["pawn", 1, "♟"],
  ];

interface Material {
  /** Signs of the pieces that the side has more, with the lead in pawns: "♞♟+2"; empty without such pieces. */
  text: string;
  /** The same in words. */
  words: string;
}

/** Returns the pieces that a side has more than the other side. The lead is shown for the side with the lead. */
function materialOf({ board }: Pick<Position, "board">, side: Color): Material {
  const more = PIECES.map(([role, value, sign]) => {
    const count = (color: Color) => board.pieces(color, role).size();
    const difference = count(side) - count(opposite(side));
    return { role, value, sign, difference };
  });
  const lead = more.reduce(
    (sum, { value, difference }) => sum + value * difference,
    0,
  );
  const extra = more.filter(({ difference }) => difference > 0);
  const signs = extra
    .map(({ sign, difference }) => sign.repeat(difference))
    .join("");
  const words = extra
    .map(({ role, difference }) => plural(difference, role))
    .join(", ");
  return {
    text: `${signs}${lead > 0 ? `+${lead}` : ""}`,
    words: words && `${words} more`,
  };
}

/** Shows the material of a side in an element. */
export function drawMaterial(
  slot: HTMLElement,
  position: Pick<Position, "board">,
  side: Color,
): void {
  const { text, words } = materialOf(position, side);
  if (slot.textContent === text) return;
  slot.textContent = text;
  slot.title = slot.ariaLabel = words;
  slot.hidden = text === "";
}
