// Pinning: no manifest is taken but the one whose hash was asked for.

import { ShelfishError, describe } from "./errors.js";

/** A check of the bytes of a manifest, which rejects unless they have one of the hashes; none where none is asked for. */
export function pin(integrity, url) {
  if (integrity === undefined || integrity === null) return async () => {};
  const hashes = typeof integrity === "string" ? integrity.trim().split(/\s+/) : [];
  if (hashes.length === 0 || !hashes.every((hash) => /^sha256-[A-Za-z0-9+/]{43}=$/.test(hash))) {
    throw new ShelfishError("usage", `integrity: expected sha256- and a hash in Base64, found ${describe(integrity)}`);
  }
  const { subtle } = globalThis.crypto ?? {};
  if (!subtle) throw new ShelfishError("usage", "integrity: the browser hashes on pages of https: and localhost alone");
  return async (bytes) => {
    const digest = new Uint8Array(await subtle.digest("SHA-256", bytes));
    const found = `sha256-${btoa(String.fromCharCode(...digest))}`;
    if (hashes.includes(found)) return;
    throw new ShelfishError("integrity", `${url}: another manifest than the one asked for: expected ${integrity}, found ${found}`, { url });
  };
}
