import { defineConfig, type Plugin } from "vite";
import { bookmarklet } from "./build/bookmarklet";
import { openings } from "./build/openings";

/**
 * The policy of the built page: nothing but its own files. Where the database may come from is narrowed further
 * by the page itself (src/policy.ts), because `?db=` may name another host. Chessground sets one harmless style attribute.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self' https: http:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const policy: Plugin = {
  name: "content-security-policy",
  apply: "build",
  transformIndexHtml: () => [
    { tag: "meta", attrs: { "http-equiv": "Content-Security-Policy", content: POLICY }, injectTo: "head-prepend" },
  ],
};

/** The lookup module starts to travel with the page rather than after its script. */
const preload: Plugin = {
  name: "preload-wasm",
  apply: "build",
  transformIndexHtml: {
    order: "post",
    handler: (_html, { bundle, path }) =>
      Object.keys(bundle ?? {})
        .filter((name) => !path.endsWith("/bookmarklet.html") && name.endsWith(".wasm"))
        .map((name) => ({ tag: "link", attrs: { rel: "preload", as: "fetch", type: "application/wasm", crossorigin: true, href: `./${name}` }, injectTo: "head" })),
  },
};

export default defineConfig({
  // Relative, so that the folder works under any path, as on GitHub Pages.
  base: "./",
  plugins: [openings, policy, preload, bookmarklet],
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { input: ["index.html", "how.html", "bookmarklet.html", "embed.html"] },
  },
  server: { fs: { allow: [".."] } },
});
