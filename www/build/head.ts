/** Adds to the head of every page: the Content-Security-Policy, early requests and metadata for link previews. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { HtmlTagDescriptor, Plugin } from "vite";

/** Settings of a deployment. */
export interface Deployment {
  /** URL of the site, with a slash at the end. Without it, pages name no absolute URLs. */
  url?: string;
  /** URL of the database's manifest, absolute or relative to the pages. */
  database: string;
}

/**
 * The policy of a built page allows the site's own files and the inline scripts of the build. `?db=` may name another host, so each page narrows
 * `connect-src` itself (src/shell/policy.ts). Chessground sets one harmless style attribute.
 */
const policy = (html: string) =>
  [
    "default-src 'none'",
    ["script-src 'self' 'wasm-unsafe-eval'", ...hashes(html, "script")].join(" "),
    ["style-src 'self'", ...hashes(html, "style")].join(" "),
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self' https: http:",
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");

const hashes = (html: string, tag: "script" | "style") =>
  [...html.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, "gs"))].map(([, text]) => `'sha256-${createHash("sha256").update(text ?? "").digest("base64")}'`);

const EVALUATIONS = /(^|\/)shelfish_bg-[^/]*\.wasm$/;
const BOOKS = /(^|\/)shelfish_book_bg-[^/]*\.wasm$/;

/** The manifests and the module that each page requests before its scripts are loaded. */
const EARLY: Record<string, { read: ("db" | "book")[]; module: RegExp }> = {
  "index.html": { read: ["db"], module: EVALUATIONS },
  "how.html": { read: ["db"], module: EVALUATIONS },
  // Evaluations are requested after the counts, so that they do not compete for bandwidth.
  "explorer.html": { read: ["book"], module: BOOKS },
  "precedent.html": { read: ["book"], module: BOOKS },
};

const CHARSET = /<meta charset="utf-8" ?\/?>/;

const of = (html: string, pattern: RegExp) => pattern.exec(html)?.[1]?.trim() ?? "";

export function head({ url, database }: Deployment): Plugin {
  const early = readFileSync(new URL("./early.js", import.meta.url), "utf8").trim();
  return {
    name: "shelfish-head",
    transformIndexHtml: {
      order: "post",
      handler(html, { path, bundle, server }) {
        const name = basename(path);
        const isMissing = name === "404.html";
        const files = Object.keys(bundle ?? {});
        const link = (attrs: Record<string, string | boolean>): HtmlTagDescriptor => ({ tag: "link", attrs, injectTo: "head" });
        const meta = (attrs: Record<string, string>): HtmlTagDescriptor => ({ tag: "meta", attrs, injectTo: "head" });
        const tags: HtmlTagDescriptor[] = [];

        if (!isMissing) {
          tags.push(link({ rel: "manifest", href: "./manifest.webmanifest" }), link({ rel: "apple-touch-icon", href: "./icon-180.png" }));
          tags.push(meta({ property: "og:type", content: "website" }), meta({ property: "og:site_name", content: "Shelfish" }));
          tags.push(meta({ property: "og:title", content: of(html, /<title>(.*?)<\/title>/s) }));
          tags.push(meta({ property: "og:description", content: of(html, /<meta name="description" content="(.*?)"/s) }));
        }
        if (url && !isMissing) {
          const own = new URL(name === "index.html" ? "./" : name, url).href;
          tags.push(link({ rel: "canonical", href: own }), meta({ property: "og:url", content: own }));
          tags.push(meta({ property: "og:image", content: new URL("card.png", url).href }));
          tags.push(meta({ property: "og:image:width", content: "1200" }), meta({ property: "og:image:height", content: "630" }));
          tags.push(meta({ property: "og:image:alt", content: "A chess board, and beside it shelves of plain files" }));
          tags.push(meta({ name: "twitter:card", content: "summary_large_image" }));
        }
        // The module that a page needs first is requested early, like the manifests (early.js).
        const { read = [], module } = EARLY[name] ?? {};
        for (const file of files.filter((file) => module?.test(file))) tags.push(link({ rel: "preload", as: "fetch", type: "application/wasm", crossorigin: true, href: `./${file}` }));
        const script = early.replace("DATABASE", JSON.stringify(database).replaceAll("<", "\\u003c")).replace("READ", JSON.stringify(read));
        // The script sets the theme before the first paint. Style sheets must not delay it.
        const first = isMissing ? "" : `<script>${script}</script>`;
        if (server) return html.replace(CHARSET, `$&${first}`);

        // The page for missing files is served at URLs of any depth.
        const rooted = isMissing && url ? html.replaceAll('href="./', `href="${new URL(url).pathname}`) : html;
        const csp = `<meta http-equiv="Content-Security-Policy" content="${policy(rooted + first)}">`;
        // Browsers look for the charset in the first kilobyte.
        return { html: rooted.replace(CHARSET, (charset) => `${charset}\n    ${csp}\n    ${first}`), tags };
      },
    },
  };
}
