/** The famous games of the site and their titles. */
import pgn from "../../../static-shards/famous.pgn?raw";
import type { Game } from "../game/game";
import { read } from "../game/read-pgn";
import { players, slug } from "../game/identity";

const TITLES: Record<string, string> = {
  "alekhine-capablanca-1927": "World Championship",
  "anderssen-dufresne-1852": "The Evergreen Game",
  "anderssen-kieseritzky-1851": "The Immortal Game",
  "aronian-anand-2013": "Anand’s Immortal",
  "bogoljubow-alekhine-1922": "Alekhine’s queens",
  "byrne-fischer-1956": "The Game of the Century",
  "capablanca-marshall-1918": "The Marshall Attack",
  "carlsen-anand-2013": "Norway Chess",
  "deepblue-kasparov-1997": "Man against machine",
  "fischer-spassky-1972": "Match of the Century",
  "karpov-kasparov-1985": "World Championship",
  "kasparov-topalov-1999": "Kasparov’s Immortal",
  "lasker-bauer-1889": "The two bishops sacrificed",
  "morphy-isouard-1858": "The Opera Game",
  "polugaevsky-nezhmetdinov-1958": "Nezhmetdinov’s king hunt",
  "rotlewi-rubinstein-1907": "Rubinstein’s Immortal",
  "shirov-polgar-1994": "The Polgar Sicilian",
  "short-timman-1991": "Short’s king walk",
  "steinitz-bardeleben-1895": "The Battle of Hastings",
  "tal-botvinnik-1960": "World Championship",
  "topalov-shirov-1998": "Shirov’s bishop to h3",
};

/** Links have other names for these games than `slug` returns. */
const LINKED: Record<string, string> = {
  "deep-blue-kasparov-1997": "deepblue-kasparov-1997",
  "paul-morphy-duke-karl-count-isouard-1858": "morphy-isouard-1858",
};

/** A famous game. Its PGN is read when the game is opened. */
export interface Famous {
  slug: string;
  /** Number of the game in the file, from 1. */
  number: number;
  title: string;
  /** "Morphy – Isouard, 1858" */
  players: string;
  load(): Promise<Game | undefined>;
}

/** The games, oldest first. */
export const famous: readonly Famous[] = pgn
  .split(/\n(?=\[Event )/)
  .map((text, index) => {
    const tags = text.matchAll(/^\[(\w+) "(.*)"\]$/gm);
    const headers = new Map(
      [...tags].map(([, tag = "", value = ""]) => [tag, value]),
    );
    const name = slug(headers);
    const id = LINKED[name] ?? name;
    return {
      slug: id,
      number: index + 1,
      title: TITLES[id] ?? headers.get("Event") ?? "",
      players: players(headers),
      load: async () => {
        const [game] = (await read(text)).games;
        return game && Object.assign(game, { slug: id });
      },
    };
  })
  .sort((a, b) => a.slug.slice(-4).localeCompare(b.slug.slice(-4)));
