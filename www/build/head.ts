/** Adds to the head of every page: the Content-Security-Policy, early requests and metadata for link previews. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { svgUrl } from "./pictures.ts";
import type { HtmlTagDescriptor, Plugin, Rolldown } from "vite";

/** Settings of a deployment. */
export interface Deployment {
  /** URL of the site, with a slash at the end. Without it, pages name no absolute URLs. */
  url?: string;
  /** URL of the database's manifest, absolute or relative to the pages. */
  database: string;
}

/**
 * The policy of a built page allows the site's own files and the inline scripts of the build. `?db=` may name another host, so each page narrows
 * `connect-src` itself (src/shell/page.ts). Chessground sets one harmless style attribute.
 */
const policy = (html: string) =>
  [
    "default-src 'none'",
    ["script-src 'self' 'wasm-unsafe-eval'", ...hashes(html, "script")].join(
      " ",
    ),
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
  [...html.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, "gs"))].map(
    ([, text]) =>
      `'sha256-${createHash("sha256")
        .update(text ?? "")
        .digest("base64")}'`,
  );

/** The module that reads evaluations and books. */
const MODULE = /(^|\/)shelfish_bg-[^/]*\.wasm$/;

const BOARD = "index.html";

/** The manifests that each page requests before its scripts are loaded, together with the module. */
const EARLY: Record<string, ("db" | "book")[]> = {
  [BOARD]: ["db"],
  "how.html": ["db"],
  // Evaluations are requested after the counts, so that they do not compete for bandwidth.
  "explorer.html": ["book"],
  "precedent.html": ["book"],
};

const CHARSET = /<meta charset="utf-8" ?\/?>/;

const of = (html: string, pattern: RegExp) =>
  pattern.exec(html)?.[1]?.trim() ?? "";

/** The part of the board that an address with a game needs. Other addresses load it later. */
const GAME_PARTS = /(^|\/)game-parts-[^/]*\.js$/;

/** Returns the files of a chunk that its page does not load: scripts and style sheets. */
function filesOf(
  bundle: Rolldown.OutputBundle,
  page: RegExp,
  part: RegExp,
): string[] {
  const chunks = new Map(
    Object.values(bundle).flatMap((file) =>
      file.type === "chunk" ? [[file.fileName, file]] : [],
    ),
  );
  const withImports = (pattern: RegExp) => {
    const found = new Set(
      [...chunks.keys()].filter((name) => pattern.test(name)),
    );
    for (const name of found)
      for (const imported of chunks.get(name)?.imports ?? [])
        found.add(imported);
    return found;
  };
  const known = withImports(page);
  const scripts = [...withImports(part)].filter((name) => !known.has(name));
  return scripts.flatMap((name) => [
    name,
    ...(chunks.get(name)?.viteMetadata?.importedCss ?? []),
  ]);
}

export function head({ url, database }: Deployment): Plugin {
  const early = readFileSync(new URL("./early.js", import.meta.url), "utf8")
    .trim()
    .replace(/\n\s+/g, "\n");
  // A file of its own would be one more request of each page.
  const icon = svgUrl(
    readFileSync(
      new URL("../public/favicon.svg", import.meta.url),
      "utf8",
    ).trim(),
  );
  return {
    name: "shelfish-head",
    transformIndexHtml: {
      order: "post",
      handler(html, { path, bundle, server }) {
        const name = basename(path);
        const isMissing = name === "404.html";
        const files = Object.keys(bundle ?? {});
        const tags: HtmlTagDescriptor[] = [];
        const add = (
          tag: "link" | "meta",
          attrs: Record<string, string | boolean>,
        ) => tags.push({ tag, attrs, injectTo: "head" });
        const properties = (values: Record<string, string>) => {
          for (const [property, content] of Object.entries(values))
            add("meta", { property: `og:${property}`, content });
        };
        if (!isMissing) {
          add("link", { rel: "manifest", href: "./manifest.webmanifest" });
          add("link", { rel: "apple-touch-icon", href: "./icon-180.png" });
          properties({
            type: "website",
            site_name: "Shelfish",
            title: of(html, /<title>(.*?)<\/title>/s),
            description: of(html, /<meta name="description" content="(.*?)"/s),
          });
        }
        if (url && !isMissing) {
          const own = new URL(name === BOARD ? "./" : name, url).href;
          add("link", { rel: "canonical", href: own });
          properties({
            url: own,
            image: new URL("card.png", url).href,
            "image:alt": "A chess board, and beside it shelves of plain files",
          });
          add("meta", { name: "twitter:card", content: "summary_large_image" });
        }
        // The module that a page needs first is requested early, like the manifests (early.js).
        const read = EARLY[name] ?? [];
        for (const file of files.filter(
          (file) => read.length > 0 && MODULE.test(file),
        ))
          add("link", {
            rel: "preload",
            as: "fetch",
            type: "application/wasm",
            crossorigin: true,
            href: `./${file}`,
          });
        // Their priority is low: the module and the scripts of the page go first.
        const linked =
          name === BOARD && bundle
            ? filesOf(bundle, /(^|\/)index-[^/]*\.js$/, GAME_PARTS).map(
                (file) => `./${file}`,
              )
            : [];
        const script = early
          .replace(
            "DATABASE",
            JSON.stringify(database).replaceAll("<", "\\u003c"),
          )
          .replace("READ", JSON.stringify(read))
          .replace("LINKED", JSON.stringify(linked));
        // The script sets the theme before the first paint. Style sheets must not delay it.
        const first = isMissing ? "" : `<script>${script}</script>`;
        if (server) return html.replace(CHARSET, `$&${first}`);

        // The page for missing files is served at URLs of any depth.
        const dense = html.replace(/\n\s+/g, "\n");
        const rooted =
          isMissing && url
            ? dense.replaceAll('href="./', `href="${new URL(url).pathname}`)
            : dense;
        const csp = `<meta http-equiv="Content-Security-Policy" content="${policy(rooted + first)}">`;
        // Browsers look for the charset in the first kilobyte.
        const whole = rooted
          .replace(CHARSET, (charset) => `${charset}\n    ${csp}\n    ${first}`)
          .replace('"./favicon.svg"', `"${icon}"`);
        return { html: whole, tags };
      },
    },
  };
}
