// Decodes a WASM module from text, for entries that contain their module. `cargo xtask npm` encodes it: the text is
// printable ASCII, so that charsets and minifiers do not change it.

/** Letters of the code, as in build-tools/xtask/src/npm.rs. The last two are prefixes: they start codes of two letters. */
const LETTERS =
  " !#%&'()*+,-./0123456789:;=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_abcdefghijklmnopqrstuvwxyz{|}~";
const SINGLE = LETTERS.length - 2;

/** Decodes the bytes of a module. */
export function decodeModule(text: string): Uint8Array<ArrayBuffer> {
  const values = new Uint8Array(128);
  for (let n = 0; n < LETTERS.length; n++) values[LETTERS.charCodeAt(n)] = n;
  // Decodes in place. A plain loop is fast even in its first run, and this function runs once.
  const bytes = new TextEncoder().encode(text);
  const end = bytes.length;
  let length = 0;
  let prefix = -1;
  for (let at = 0; at < end; at++) {
    const value = values[bytes[at]!]!;
    if (prefix >= 0) {
      bytes[length++] = prefix + value;
      prefix = -1;
    } else if (value < SINGLE) {
      bytes[length++] = value;
    } else {
      prefix = SINGLE + (value - SINGLE) * LETTERS.length;
    }
  }
  return bytes.subarray(0, length);
}
