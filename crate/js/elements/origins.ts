// Databases, tables and engines that the components or elements of a page share.

import type { Database } from "../database/database.js";
import type { Endgames } from "../endgames.js";
import type { Engine } from "../engine/engine.js";
import type { Evaluator } from "../engine/evaluator.js";
import { isUrl } from "../shared/options.js";
import { by, given, Parts } from "../shared/parts.js";
import type { EngineOpener, Opener } from "../shared/types.js";

/** Origins of evaluations. Components with equal URLs, or with the same objects, share them. */
export interface Origins {
  database?: Opener<Database>;
  endgames?: Opener<Endgames>;
  /** The engine that searches positions that tables and database lack; `true` for the engine of this package. Default `false`. */
  engine?: EngineOpener<Engine>;
}

/** Milliseconds after which origins without a component are closed. A page that changes keeps them. */
const LINGER = 5_000;

/** Open origins. Each part is opened when it is first needed. */
export class OpenOrigins {
  #origins: Origins;
  #parts = new Parts();
  users = 0;

  constructor(origins: Origins) {
    this.#origins = origins;
  }

  /** Returns the origins as functions that open each origin once. */
  get all() {
    const { database, endgames, engine } = this.#origins;
    const parts = this.#parts;
    return {
      database:
        database &&
        (async () =>
          (await given(parts, "database", database, "lookup", async (url) =>
            (await import("../index.js")).openDatabase(
              url,
              by("shelfish/elements"),
            ),
          ))!),
      endgames:
        endgames &&
        (async () =>
          (await given(parts, "endgames", endgames, "probe", async (url) =>
            (await import("../endgames.js")).openEndgames(
              url,
              by("shelfish/elements"),
            ),
          ))!),
      engine:
        engine &&
        (async () =>
          (await given(parts, "engine", engine, "analyse", async () =>
            (await import("../engine.js")).openEngine(),
          ))!),
    };
  }

  evaluator(): Promise<Evaluator> {
    return this.#parts.get("evaluator", async () =>
      (await import("../engine.js")).openEvaluator(this.all),
    );
  }

  close(): void {
    this.#parts.close();
  }
}

const open = new Map<string, OpenOrigins>();

/** Numbers of objects, which are parts of keys. */
const numbers = new WeakMap<object, number>();
let last = 0;

function nameOf(value: unknown): string {
  if (isUrl(value) || value !== Object(value)) return String(value);
  let number = numbers.get(value as object);
  if (number === undefined) numbers.set(value as object, (number = ++last));
  return `#${number}`;
}

/** Returns a key that equal origins have. */
export const keyOf = ({
  database,
  endgames,
  engine = false,
}: Origins): string => [database, endgames, engine].map(nameOf).join("\n");

/** Returns the open origins of a component, and a function that ends their use. */
export function use(origins: Origins): [OpenOrigins, end: () => void] {
  const key = keyOf(origins);
  const found = open.get(key) ?? new OpenOrigins(origins);
  open.set(key, found);
  found.users++;
  const end = () => {
    found.users--;
    setTimeout(() => {
      if (found.users > 0 || open.get(key) !== found) return;
      open.delete(key);
      found.close();
    }, LINGER);
  };
  return [found, end];
}

/** Databases and books that the elements of a page share. They stay open. */
const shared = new Parts();

type Openers = typeof import("../index.js");

/** Opens a database or a book once for all elements. */
export const openShared = <Name extends "openDatabase" | "openBook">(
  name: Name,
  url: string,
): ReturnType<Openers[Name]> =>
  shared.get(url.replace(/\/$/, "/manifest.json"), async () =>
    (await import("../index.js"))[name](url, by("shelfish/elements")),
  ) as ReturnType<Openers[Name]>;
