/** Writes the SVG pictures of style sheets as text, which compresses better than base64. */
import type { Plugin } from "vite";

const BASE64 = /url\((["']?)data:image\/svg\+xml;base64,([A-Za-z0-9+/=]+)\1\)/g;

/** Runs after Vite has resolved the imports of style sheets. */
export const pictures: Plugin = {
  name: "shelfish-pictures",
  transform: (code, id) =>
    id.endsWith(".css") ? { code: legible(code), map: null } : undefined,
};

/** Returns a style sheet with SVG pictures as text. */
export const legible = (css: string): string =>
  css.replace(BASE64, (_, _quote, base64: string) => {
    return `url("${svgUrl(Buffer.from(base64, "base64").toString())}")`;
  });

/** Returns a URL that contains an SVG picture as text, without double quotes. */
export const svgUrl = (svg: string): string =>
  `data:image/svg+xml,${svg.replaceAll('"', "'").replace(/[%#<>\n\\]/g, encodeURIComponent)}`;
