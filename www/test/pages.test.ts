import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const folder = fileURLToPath(new URL("../", import.meta.url));
// The board has a menu in its header. The page for missing files has no header.
const pages = readdirSync(folder).filter(
  (name) =>
    name.endsWith(".html") && name !== "index.html" && name !== "404.html",
);

it.each(pages)("%s has the shared header", (name) => {
  const html = readFileSync(`${folder}${name}`, "utf8");
  expect(html).toContain("<!-- masthead -->");
  expect(html).not.toContain("<header");
});
