/** Writes the SVG pictures of style sheets as text, which compresses better than base64, and `favicon.ico` for programs that ask for it. */
import { readFileSync } from "node:fs";
import type { Plugin } from "vite";

const BASE64 = /url\((["']?)data:image\/svg\+xml;base64,([A-Za-z0-9+/=]+)\1\)/g;

/** Runs after Vite has resolved the imports of style sheets. */
export const pictures: Plugin = {
  name: "shelfish-pictures",
  transform: (code, id) =>
    id.endsWith(".css") ? { code: legible(code), map: null } : undefined,
  generateBundle() {
    const png = readFileSync(
      new URL("../public/icon-180.png", import.meta.url),
    );
    // One picture of 180 by 180 pixels, 32 bits each, after 22 bytes.
    const head = Buffer.from([0, 0, 1, 0, 1, 0, 180, 180, 0, 0, 1, 0, 32, 0]);
    const place = new Uint32Array([png.length, 22]);
    this.emitFile({
      type: "asset",
      fileName: "favicon.ico",
      source: Buffer.concat([head, Buffer.from(place.buffer), png]),
    });
  },
};

/** Returns a style sheet with SVG pictures as text. */
export const legible = (css: string): string =>
  css.replace(BASE64, (_, _quote, base64: string) => {
    return `url("${svgUrl(Buffer.from(base64, "base64").toString())}")`;
  });

/** Returns a URL that contains an SVG picture as text, without double quotes. */
export const svgUrl = (svg: string): string =>
  `data:image/svg+xml,${svg.replaceAll('"', "'").replace(/[%#<>\n\\]/g, encodeURIComponent)}`;
