// An open database: gets what its lookups want from IndexedDB or the host, each part once for all who want it.

import { ShelfishError, atLeast, check, describe, failure, until } from "./errors.js";
import { Exchange, Flight, Gate } from "./exchange.js";
import { Lookup, Request } from "./shelfish.js";

const closed = () => new ShelfishError("closed", "the database was closed");

/** What is told of a record, and how, as the module takes it. */
function style(options) {
  const { castling, san = false, minDepth, minKnodes } = options ?? {};
  const least = (name, value) => atLeast(0, name, value ?? 0);
  return [castling === "chess960", Boolean(san), least("minDepth", minDepth), least("minKnodes", minKnodes)];
}

/** An answer as the module writes it, or the error that stands in its place. */
function revive(answer) {
  if (answer === null) return null;
  if (answer.code !== undefined) return failure(answer);
  answer.best = answer.evaluations[0];
  return answer;
}

export class Database {
  #engine;
  #url;
  #store;
  /** Checks the bytes of a manifest. */
  #verify;
  /** What its requests share. */
  #air;
  /** Requests under way, by the name of each part that they fetch. */
  #flights = new Map();
  #renewal;
  #stops = new Set();
  #stats;

  /** Use `open`. */
  constructor(engine, url, { store, concurrency, timeout, verify, requests, bytes }) {
    this.#engine = engine;
    this.#url = url;
    this.#store = store;
    this.#verify = verify;
    this.#stats = { requests, bytes, memoryHits: 0, indexedDBHits: 0, networkBlocks: 0, lookups: 0, milliseconds: 0 };
    this.#air = { gate: new Gate(concurrency), timeout, stats: this.#stats };
  }

  get #open() {
    if (this.#engine === undefined) throw closed();
    return this.#engine;
  }

  get manifest() {
    return JSON.parse(this.#open.manifest());
  }

  async lookup(fen, options) {
    check(options?.signal);
    const started = performance.now();
    const text = this.#open.peek(String(fen), ...style(options));
    if (text !== undefined) this.#count(1, started);
    const entry = text === undefined ? (await this.lookupMany([fen], options))[0] : revive(JSON.parse(text));
    if (entry instanceof ShelfishError) throw entry;
    return entry;
  }

  async lookupMany(fens, options) {
    const { signal } = options ?? {};
    check(signal);
    const told = style(options);
    if (typeof fens === "string" || typeof fens?.[Symbol.iterator] !== "function") {
      throw new ShelfishError("usage", `lookupMany takes a list of FENs, found ${describe(fens)}`);
    }
    const started = performance.now();
    // A FEN a line, so none may have one of its own.
    const texts = Array.from(fens, (fen) => String(fen).replaceAll("\n", " "));
    if (texts.length === 0) return [];
    const job = { lookup: new Lookup(this.#open, texts.join("\n")), flights: [], ended: false };
    const end = () => {
      job.ended = true;
      // Each is left once, however often the job ends.
      for (const flight of job.flights.splice(0)) if (flight.leave()) this.#land(flight);
    };
    try {
      await until(this.#run(job), signal, this.#stops, end);
    } catch (error) {
      job.lookup.free();
      throw error;
    }
    end();
    const answers = JSON.parse(job.lookup.answers(...told)).map(revive);
    this.#count(texts.length, started);
    return answers;
  }

  #count(lookups, started) {
    this.#stats.lookups += lookups;
    this.#stats.milliseconds += performance.now() - started;
  }

  async #run(job) {
    await this.#settle(job);
    if (job.ended || !job.lookup.stale) return;
    if (!job.lookup.outdated(this.#engine) && !(await this.#renew())) return;
    if (job.ended) return;
    job.lookup.retry(this.#engine);
    await this.#settle(job);
  }

  /** Gets what a lookup wants until it wants no more. */
  async #settle(job) {
    const wants = JSON.parse(job.lookup.wants(this.#engine));
    if (wants.length === 0) return;
    const parts = wants.map(([n, file, start, end, request, isBlock]) => {
      return { n, file, start, end, request, isBlock, name: `${file}:${start}-${end}` };
    });
    const missing = await this.#recall(job, parts);
    if (job.ended) return;
    const runs = [];
    for (const part of missing) {
      const flight = this.#flights.get(part.name);
      const run = runs.at(-1);
      const last = run?.parts.at(-1);
      if (last?.n + 1 === part.n && last.request === part.request && run.flight === flight) run.parts.push(part);
      else runs.push({ flight, parts: [part] });
    }
    const work = runs.map((run) => this.#fetch(job, run));
    if (missing.length < parts.length) work.push(this.#settle(job));
    await Promise.all(work);
  }

  /** Hands in what IndexedDB has, or what came into memory meanwhile; gives what is still missing. */
  async #recall(job, parts) {
    const names = parts.map(({ name }) => name).filter((name) => !this.#flights.has(name));
    const found = (names.length > 0 && (await this.#store?.get(names))) || [];
    if (job.ended) return parts;
    const kept = new Map(names.map((name, n) => [name, found[n]]));
    return parts.filter(({ n, name, isBlock }) => {
      const bytes = kept.get(name);
      if (job.lookup.recall(this.#engine, n)) return false;
      if (!bytes) return true;
      const isGood = job.lookup.give(this.#engine, n, bytes);
      if (isGood) this.#stats.indexedDBHits += Number(isBlock);
      else this.#store.remove(name);
      return !isGood;
    });
  }

  /** Hands in what a request fetches: one that is under way, or a new one. */
  async #fetch(job, { flight, parts }) {
    flight ??= this.#send(parts);
    flight.join();
    job.flights.push(flight);
    await flight.done;
    if (job.ended) return;
    for (const { n, name, isBlock } of parts) {
      const bytes = job.lookup.take(this.#engine, n, flight.request);
      // The first of those who wait for it keeps it.
      if (!flight.names.delete(name) || !bytes) continue;
      this.#store?.put(name, bytes, false);
      this.#stats.networkBlocks += Number(isBlock);
    }
    await this.#settle(job);
  }

  #send(parts) {
    const { file, start } = parts[0];
    const url = new URL(file, this.#url).href;
    const flight = new Flight(Request.range(url, start, parts.at(-1).end), url, this.#air);
    flight.names = new Set(parts.map(({ name }) => name));
    for (const name of flight.names) this.#flights.set(name, flight);
    flight.done.then(() => this.#land(flight));
    return flight;
  }

  /** From now on what it fetched is in memory, or has to be asked for again. */
  #land(flight) {
    for (const [name, other] of this.#flights) if (other === flight) this.#flights.delete(name);
  }

  /** Reads the manifest again, as another build may have taken the database's place; whether it could be read. */
  #renew() {
    const renew = async () => {
      const request = Request.manifest(this.#url);
      const exchange = new Exchange(this.#url);
      const bytes = await exchange.answer(request, this.#air.timeout);
      this.#stats.requests += exchange.sent;
      this.#stats.bytes += bytes.length;
      const isPinned = await this.#verify(bytes).then(() => true, () => false);
      const isGood = (isPinned && this.#engine?.renew(request)) ?? false;
      if (isGood) this.#store?.put(this.#url, bytes, true);
      request.free();
      return isGood;
    };
    this.#renewal ??= renew().finally(() => (this.#renewal = undefined));
    return this.#renewal;
  }

  stats() {
    return { ...this.#stats, memoryHits: this.#open.hits };
  }

  close() {
    for (const stop of [...this.#stops]) stop(closed());
    this.#engine?.free();
    this.#engine = undefined;
    this.#store?.close();
  }
}
