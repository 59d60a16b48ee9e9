// A module as a text, for where no file can lie beside the JavaScript: `cargo xtask npm` makes it, in printable ASCII
// only, so that neither charsets nor minifiers matter.

/** The letters of the text. The last two are no bytes but begin those of two letters, so that a byte has one. */
const LETTERS = " !#%&'()*+,-./0123456789:;=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_abcdefghijklmnopqrstuvwxyz{|}~";
const SINGLE = LETTERS.length - 2;

/** The bytes of a module. Where they repeat so does the text, so that it is hardly longer than they are, compressed. */
export function bytes(text: string): Uint8Array<ArrayBuffer> {
  const values = new Uint8Array(128);
  for (let n = 0; n < LETTERS.length; n++) values[LETTERS.charCodeAt(n)] = n;
  // Decoded in place, by a loop that is fast the first time that it runs, which is the only one.
  const bytes = new TextEncoder().encode(text);
  const end = bytes.length;
  let length = 0;
  let begun = -1;
  for (let at = 0; at < end; at++) {
    const value = values[bytes[at]!]!;
    if (begun >= 0) {
      bytes[length++] = begun + value;
      begun = -1;
    } else if (value < SINGLE) {
      bytes[length++] = value;
    } else {
      begun = SINGLE + (value - SINGLE) * LETTERS.length;
    }
  }
  return bytes.subarray(0, length);
}
