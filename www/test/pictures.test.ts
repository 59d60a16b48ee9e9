import { expect, test } from "vitest";
import { legible } from "../build/pictures.ts";

test("SVG pictures in style sheets become equivalent text", () => {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg"><path fill="#f00" d="M0 0h1%"/>\n</svg>`;
  const other = `url("data:image/png;base64,AAAA")`;
  const css = legible(
    `a{background:url(data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")})}b{background:${other}}`,
  );
  const [, text] = /url\("data:image\/svg\+xml,([^"]*)"\)/.exec(css) ?? [];
  expect(decodeURIComponent(text ?? "")).toBe(svg.replaceAll('"', "'"));
  expect(text).not.toMatch(/[<>#\n]/);
  expect(css).toContain(other);
});
