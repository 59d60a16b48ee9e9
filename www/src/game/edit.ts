/** Changes of the tree that can be undone: variations that become the main line or are deleted. */
import { movesOf, variationOf, type Game, type Node } from "./game";
import { gameId } from "./game-id";

/** A change that can be undone. */
export interface Edit {
  /** Undoes the change. Moves that were added since remain. */
  undo(): void;
}

/** Returns the parts of a game that name its source. */
const sourceOf = ({ slug, site, id, sourcePlies }: Game) => ({
  slug,
  site,
  id,
  sourcePlies,
});

/**
 * Gives a position of the game these next moves: the same moves in another order, or fewer. If they change the main line of the game's source, the
 * game is the reader's own: it has neither the source's name nor its id.
 */
export function arrange(
  game: Game,
  parent: Node,
  children: readonly Node[],
): Edit {
  const [before, source] = [[...parent.children], sourceOf(game)];
  const isOfSource =
    !variationOf(parent) &&
    parent.ply < game.sourcePlies &&
    children[0] !== before[0];
  parent.children.splice(0, Infinity, ...children);
  if (isOfSource) leaveSource(game);
  const after = game.id;
  return {
    undo: () => {
      parent.children.splice(
        0,
        Infinity,
        ...before,
        ...parent.children.filter((child) => !before.includes(child)),
      );
      Object.assign(
        game,
        source,
        after === source.id ? {} : { formerId: after },
      );
    },
  };
}

function leaveSource(game: Game): void {
  game.slug = undefined;
  if (game.site) {
    const { name, url } = game.site;
    game.site = { name, ...(url === undefined ? {} : { url }) };
  }
  identify(game, game.mainline().slice(1));
}

/** Makes `line`, the main line, the moves by which the list and links identify the game. */
export function identify(game: Game, line: readonly Node[]): void {
  game.sourcePlies = line.length;
  if (!game.id) return;
  const id = gameId(game.root.position, movesOf(line), game.headers);
  if (id === game.id) return;
  game.formerId = game.id;
  game.id = id;
}
