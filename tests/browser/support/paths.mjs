// Paths. `cargo xtask test` sets the variables; the defaults are for `node --test`.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** The native program. */
export const SHELFISH =
  process.env.SHELFISH ?? join(ROOT, "target", "release", "shelfish");

/** Writes hostile databases. */
export const ATTACK =
  process.env.SHELFISH_ATTACK ?? join(ROOT, "target", "release", "attack");

/** The assembled site, with the sample database in `db/`. */
export const SITE = resolve(process.env.SHELFISH_SITE ?? join(ROOT, "dist"));

/** The npm package. */
export const PACKAGE = resolve(
  process.env.SHELFISH_PACKAGE ?? join(ROOT, "crate", "pkg"),
);

/** The example of a web app in Rust. */
export const WEB_APP = resolve(
  process.env.SHELFISH_WEB_APP ?? join(ROOT, "target", "web-app"),
);

export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** The dumps of the sample database. */
export const DUMPS = ["sample.jsonl.zst", "famous.jsonl.zst"].map((name) =>
  join(ROOT, "static-shards", name),
);

/** Returns the name of the file of the package that a page imports. */
export function entry() {
  const { exports, module, main } = JSON.parse(
    readFileSync(join(PACKAGE, "package.json"), "utf8"),
  );
  let file = exports?.["."] ?? exports ?? module ?? main;
  while (typeof file === "object")
    file = file.browser ?? file.import ?? file.default;
  return String(file).replace(/^\.\//, "");
}
