// Requests by `fetch`, and who waits for them. Whether an answer is right is for the WASM module to judge.

/** Seconds for which the host asks to be left alone, if it tells. */
function retryAfter(headers) {
  const text = headers.get("Retry-After");
  if (text === null) return undefined;
  const seconds = /^\s*\d+\s*$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : seconds;
}

/** A request that was sent, and is sent again where the module says so, and its answer. */
export class Exchange {
  #url;
  #init;
  #abort = new AbortController();
  #response;
  #retryAfter;
  /** How often it was sent. */
  sent = 0;

  constructor(url, range) {
    this.#url = url;
    this.#init = {
      signal: this.#abort.signal,
      // Chromium's cache lets only one range request a URL run at a time, and ranges are cached elsewhere.
      ...(range ? { headers: { Range: range }, cache: "no-store" } : { cache: "no-cache" }),
    };
    this.#send();
  }

  #send() {
    this.sent += 1;
    this.#response = fetch(this.#url, this.#init);
    // Heard of by who waits for the answer.
    this.#response.catch(() => {});
  }

  /**
   * Fills a request of the module with the answer, or with why there is none after so many milliseconds. The bytes of
   * the body.
   */
  async answer(request, timeout) {
    let timer;
    const start = performance.now();
    const late = new Promise((_, reject) => {
      // Timers count to 2³¹ - 1; what is more fires at once.
      timer = setTimeout(reject, Math.min(timeout, 2 ** 31 - 1));
    });
    // Raced against, and perhaps never.
    late.catch(() => {});
    try {
      for (;;) {
        const bytes = await this.#attempt(request, timeout, late);
        const pause = request.pause(this.sent, this.#retryAfter, Math.random());
        const isLate = performance.now() - start + pause >= timeout;
        // Without a connection there is nothing to wait for.
        if (pause === undefined || isLate || this.#abort.signal.aborted || globalThis.navigator?.onLine === false) return bytes;
        await new Promise((resolve) => {
          const wait = setTimeout(resolve, pause);
          this.#abort.signal.addEventListener("abort", () => (clearTimeout(wait), resolve()), { once: true });
        });
        if (this.#abort.signal.aborted) return bytes;
        this.#send();
      }
    } finally {
      clearTimeout(timer);
      this.cancel();
    }
  }

  /** Waits for the answer to what was sent last. */
  async #attempt(request, timeout, late) {
    const within = (work) => Promise.race([work, late]);
    let bytes = new Uint8Array();
    this.#retryAfter = undefined;
    try {
      const { status, headers, body } = await within(this.#response);
      this.#retryAfter = retryAfter(headers);
      const head = ["Range", "Length", "Encoding"].map((name) => headers.get(`Content-${name}`) ?? undefined);
      const cap = request.head(status, ...head);
      if (cap === undefined) {
        // Nobody reads it; the connection is free for the next.
        body?.cancel().catch(() => {});
        return bytes;
      }
      const stream = body?.getReader();
      const pieces = [];
      let length = 0;
      // No further than shows that it is too long.
      while (stream && length <= cap) {
        const { done, value } = await within(stream.read());
        if (done) break;
        pieces.push(value);
        length += value.length;
      }
      bytes = new Uint8Array(length);
      for (let at = 0; pieces.length > 0; at += pieces.shift().length) bytes.set(pieces[0], at);
      request.body(bytes);
    } catch (error) {
      // Node keeps the reason in the cause.
      const why = [error, error?.cause].map((error) => error?.message).filter(Boolean);
      request.fail(error && (why.join(": ") || String(error)), timeout);
    }
    return bytes;
  }

  /** Gives it up, if it is not done. */
  cancel() {
    this.#abort.abort();
  }
}

/** Lets so many through at a time. */
export class Gate {
  #free;
  #waiting = [];

  constructor(free) {
    this.#free = Math.max(free, 1);
  }

  async pass() {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise((resolve) => this.#waiting.push(resolve));
  }

  leave() {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}

/** A request that is under way for all who joined it, and given up when the last of them leaves. */
export class Flight {
  #users = 0;
  #exchange;

  /** The module's `request` is filled when `done` settles, unless nobody waits for it any more. */
  constructor(request, url, { gate, timeout, stats }) {
    this.request = request;
    this.done = this.#fly(url, gate, timeout, stats);
  }

  async #fly(url, gate, timeout, stats) {
    await gate.pass();
    try {
      if (this.#users === 0) return;
      this.#exchange = new Exchange(url, this.request.header);
      const { length } = await this.#exchange.answer(this.request, timeout);
      stats.bytes += length;
    } finally {
      stats.requests += this.#exchange?.sent ?? 0;
      gate.leave();
    }
  }

  join() {
    this.#users += 1;
  }

  /** Whether the last one left. */
  leave() {
    this.#users -= 1;
    if (this.#users > 0) return false;
    this.#exchange?.cancel();
    this.done.then(() => this.request.free());
    return true;
  }
}
