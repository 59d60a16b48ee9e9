// Databases, tables and engines that the components or elements of a page share.

import type { Database } from "../database/database.js";
import type { Endgames } from "../endgames.js";
import type { Engine } from "../engine/engine.js";
import type { Evaluator } from "../engine/evaluator.js";
import { isUrl, Parts } from "../shared/parts.js";
import type { EndgameTables, EvaluatorDatabase } from "../shared/types.js";

/** Origins of evaluations. Components with equal origins share them. */
export interface Origins {
  /** URL of a database, or an open database. */
  database?: string | URL | Database | undefined;
  /** URL of endgame tables, or open tables. */
  endgames?: string | URL | Endgames | undefined;
  /** Whether the engine searches positions that tables and database lack. Default `false`. */
  engine?: boolean | undefined;
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

  async database(): Promise<Database | undefined> {
    const { database } = this.#origins;
    if (!isUrl(database)) return database;
    return this.#parts.get("database", async () =>
      (await import("../index.js")).openDatabase(database),
    );
  }

  /** Returns the tables, or a function that opens them. */
  get endgames(): EndgameTables | (() => Promise<Endgames>) | undefined {
    const { endgames } = this.#origins;
    if (!isUrl(endgames)) return endgames;
    return () =>
      this.#parts.get("endgames", async () =>
        (await import("../endgames.js")).openEndgames(endgames),
      );
  }

  /** Returns a function that opens the engine; `undefined` without an engine. */
  get engine(): (() => Promise<Engine>) | undefined {
    if (!this.#origins.engine) return undefined;
    return () =>
      this.#parts.get("engine", async () =>
        (await import("../engine.js")).openEngine(),
      );
  }

  evaluator(): Promise<Evaluator> {
    return this.#parts.get("evaluator", async () => {
      const [{ openEvaluator }, database] = await Promise.all([
        import("../engine.js"),
        this.database(),
      ]);
      return openEvaluator({
        database: database as EvaluatorDatabase | undefined,
        endgames: this.endgames,
        engine: this.engine,
      });
    });
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
  if (typeof value !== "object" || value === null || value instanceof URL)
    return String(value);
  let number = numbers.get(value);
  if (number === undefined) numbers.set(value, (number = ++last));
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
    (await import("../index.js"))[name](url),
  ) as ReturnType<Openers[Name]>;
