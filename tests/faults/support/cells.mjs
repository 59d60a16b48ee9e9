// The faults, the resources and the limits of the matrix.
import {
  faults,
  redirect,
  redirectOnce,
  refusal,
} from "../../browser/support/host.mjs";

/**
 * @typedef {import("../../browser/support/host.mjs").Fault} Fault
 * @typedef {import("./readers.mjs").Reader} Reader
 * @typedef {import("./readers.mjs").Kind} Kind
 *
 * @typedef {object} Resource
 * @property {string} name
 * @property {Kind} kind what is asked
 * @property {boolean} [isPinned]
 * @property {boolean} [isWhole] requested whole, not by a range
 *
 * @typedef {object} Row
 * @property {string} name
 * @property {() => Fault} [fault]
 * @property {"kept" | "gone"} [build] a new build replaces the database, whose shards are kept or gone
 * @property {number} [times] number of answers with the fault; all by default
 * @property {boolean} [isAnswered] whether only the right answer of a database is accepted
 * @property {string[]} [codes] the accepted errors
 * @property {number} [most] maximum number of requests for the resource
 * @property {number} [pause] least milliseconds between two requests for the resource
 * @property {"ranges" | "origins"} [only] what the fault concerns
 * @property {boolean} [isSlow] whether a short time-out must detect the fault
 */

/** @type {Resource[]} */
export const RESOURCES = [
  { name: "manifest", kind: "evaluations", isWhole: true },
  { name: "leaf page", kind: "evaluations" },
  { name: "block", kind: "evaluations" },
  { name: "list of hashes", kind: "evaluations", isPinned: true },
  { name: "block of a book", kind: "book" },
];

const after = (/** @type {number} */ seconds) =>
  new Date(Date.now() + 1000 * seconds).toUTCString();

/** Attempts of a request without an answer, or with a status that may pass. */
const RETRIED = 3;
/** Attempts of a part that contradicts the manifest, which is read again in between. */
const STALE = 2;

/** @type {Row[]} */
export const ROWS = [
  {
    name: "200 and the whole file, small",
    fault: () => faults.whole,
    isAnswered: true,
    only: "ranges",
  },
  {
    name: "200 and the whole file, large",
    fault: () => faults.large,
    codes: ["range"],
    only: "ranges",
  },
  {
    name: "half of the body, with its length",
    fault: () => faults.short,
    codes: ["range", "manifest"],
    most: STALE,
  },
  {
    name: "half of the body, without a length",
    fault: () => faults.ends,
    codes: ["range", "manifest"],
    most: STALE,
  },
  {
    name: "the connection breaks in the body",
    fault: () => faults.cut,
    codes: ["network"],
    most: RETRIED,
  },
  {
    name: "the connection breaks in the body, once",
    fault: () => faults.cut,
    times: 1,
    isAnswered: true,
    most: 2,
  },
  {
    name: "a long body",
    fault: () => faults.long,
    codes: ["range", "manifest"],
    most: STALE,
  },
  {
    name: "an empty body",
    fault: () => faults.empty,
    codes: ["range", "manifest"],
    most: STALE,
  },
  {
    name: "another range and its `Content-Range`",
    fault: () => faults.another,
    codes: ["range"],
    most: STALE,
    only: "ranges",
  },
  {
    name: "bytes shifted by one",
    fault: () => faults.shifted,
    codes: ["corrupt", "integrity", "manifest"],
    most: STALE,
  },
  {
    name: "one flipped bit",
    fault: () => faults.flipped,
    codes: ["corrupt", "integrity", "manifest"],
    most: STALE,
  },
  {
    name: "one flipped bit, once",
    fault: () => faults.flipped,
    times: 1,
    isAnswered: true,
    most: 2,
  },
  {
    name: "the whole file, compressed",
    fault: () => faults.compressed,
    isAnswered: true,
  },
  {
    name: "a compressed range",
    fault: () => faults.compressedRange,
    codes: ["range"],
    only: "ranges",
  },
  {
    name: "a range of the compressed file",
    fault: () => faults.rangeOfCompressed,
    codes: ["range"],
    only: "ranges",
  },
  {
    name: "decompressed on the way, without a length",
    fault: () => faults.decompressed,
    isAnswered: true,
  },
  {
    name: "decompressed on the way, with the old length",
    fault: () => faults.compressedLength,
    codes: ["range", "network", "manifest"],
    most: RETRIED,
  },
  { name: "301", fault: () => redirect(301), isAnswered: true, most: 2 },
  { name: "307", fault: () => redirect(307), isAnswered: true, most: 2 },
  {
    name: "302 to a signed URL of one use",
    fault: () => redirectOnce({ isExpired: false }),
    isAnswered: true,
    most: 2,
  },
  {
    name: "302 to an expired signed URL (403)",
    fault: () => redirectOnce({ isExpired: true }),
    codes: ["status"],
    most: 2 * STALE,
  },
  { name: "403", fault: () => refusal(403), codes: ["status"], most: STALE },
  {
    name: "404",
    fault: () => refusal(404),
    codes: ["status", "missing"],
    most: STALE,
  },
  {
    name: "404, once",
    fault: () => refusal(404),
    times: 1,
    isAnswered: true,
    most: 2,
  },
  { name: "416", fault: () => refusal(416), codes: ["status"], most: STALE },
  {
    name: "429, `Retry-After: 1`",
    fault: () => refusal(429, { "retry-after": 1 }),
    codes: ["status"],
    most: RETRIED,
    pause: 1000,
  },
  {
    name: "429, `Retry-After: 1`, once",
    fault: () => refusal(429, { "retry-after": 1 }),
    times: 1,
    isAnswered: true,
    most: 2,
    pause: 1000,
  },
  {
    name: "429, `Retry-After` a date, once",
    fault: () => refusal(429, { "retry-after": after(3) }),
    times: 1,
    isAnswered: true,
    most: 2,
    pause: 1000,
  },
  {
    name: "429, `Retry-After: 3600`",
    fault: () => refusal(429, { "retry-after": 3600 }),
    codes: ["status"],
    most: RETRIED,
  },
  {
    name: "429, `Retry-After: soon`",
    fault: () => refusal(429, { "retry-after": "soon" }),
    codes: ["status"],
    most: RETRIED,
  },
  { name: "500", fault: () => refusal(500), codes: ["status"], most: RETRIED },
  { name: "503", fault: () => refusal(503), codes: ["status"], most: RETRIED },
  {
    name: "503, once",
    fault: () => refusal(503),
    times: 1,
    isAnswered: true,
    most: 2,
  },
  {
    name: "silence",
    fault: () => faults.hang,
    codes: ["timeout"],
    isSlow: true,
  },
  {
    name: "silence inside the body",
    fault: () => faults.stall,
    codes: ["timeout"],
    isSlow: true,
  },
  {
    name: "a byte every 200 ms",
    fault: () => faults.drip,
    codes: ["timeout"],
    isSlow: true,
  },
  {
    name: "reset",
    fault: () => faults.reset,
    codes: ["network"],
    most: RETRIED,
  },
  {
    name: "reset, once",
    fault: () => faults.reset,
    times: 1,
    isAnswered: true,
    most: 2,
  },
  {
    name: "no CORS",
    fault: () => faults.foreign,
    codes: ["network"],
    most: RETRIED,
    only: "origins",
  },
  {
    name: "CORS without exposed headers",
    fault: () => faults.hidden,
    isAnswered: true,
    only: "origins",
  },
  {
    name: "another ETag each time",
    fault: () => faults.tags,
    isAnswered: true,
  },
  {
    name: "a new build, the old shards are kept",
    build: "kept",
    isAnswered: true,
  },
  {
    name: "a new build, the old shards are gone",
    build: "gone",
    codes: ["integrity"],
    most: STALE,
  },
  {
    name: "a captive portal",
    fault: () => faults.portal,
    codes: ["range", "corrupt", "manifest", "integrity"],
    most: STALE,
  },
  {
    name: "a captive portal, once",
    fault: () => faults.portal,
    times: 1,
    isAnswered: true,
    most: 2,
  },
];

/** Returns whether a cell makes sense. */
export const makesSense = (
  /** @type {Row} */ { only },
  /** @type {Resource} */ { isWhole },
  /** @type {Reader} */ { isBrowser },
) => !(only === "ranges" && isWhole) && !(only === "origins" && !isBrowser);

/** Returns whether Chromium reports no answer, because it decodes no answer to a request for a range. */
export const isUndecoded = (
  /** @type {Row} */ { name },
  /** @type {Resource} */ { isWhole },
  /** @type {Reader} */ { isBrowser },
) => isBrowser && !isWhole && / compressed|a compressed/.test(name);

/** Returns the maximum number of requests for the resource of a cell. */
export function limit(
  /** @type {Row} */ row,
  /** @type {Resource} */ resource,
  /** @type {Reader} */ reader,
) {
  // Chromium itself repeats a request whose connection is reset.
  const own = reader.isBrowser && row.name.startsWith("reset") ? 2 : 1;
  return own * (isUndecoded(row, resource, reader) ? RETRIED : (row.most ?? 1));
}
