import { afterEach, expect, it, vi } from "vitest";
import {
  bookUrl,
  change,
  dataUrl,
  load,
  manifestUrl,
} from "../src/settings/settings";

const HOSTILE = [
  "javascript:alert(1)",
  "data:application/json,{}",
  "blob:https://a.org/1",
  "file:///etc/passwd",
  "https://user:secret@x.org/m.json",
  "https://x.org;script-src/",
  "https://'none'/",
  "https://[",
  "//x,y/",
];

afterEach(() => vi.unstubAllGlobals());

it("settings last until the page closes if storage is forbidden", () => {
  const forbidden = () => {
    throw new DOMException("forbidden", "SecurityError");
  };
  vi.stubGlobal("localStorage", { getItem: forbidden, setItem: forbidden });
  vi.stubGlobal("document", { documentElement: { dataset: {} } });
  change({ evaluations: false });
  expect(load()).toMatchObject({ evaluations: false });
});

it("databases are read by https or http, from hosts without special characters", () => {
  for (const address of HOSTILE)
    expect(dataUrl(address, "https://a.org/"), address).toBeUndefined();
  const usual = [
    "db/",
    "/db/manifest.json?v=1",
    "https://b-1.org:8080/x",
    "http://127.0.0.1:1/",
    "http://[::1]:80/",
    "//münchen.de/",
  ];
  const expected = [
    "https://a.org/p/db/",
    "https://a.org/db/manifest.json?v=1",
    "https://b-1.org:8080/x",
    "http://127.0.0.1:1/",
    "http://[::1]/",
    "https://xn--mnchen-3ya.de/",
  ];
  expect(
    usual.map((address) => dataUrl(address, "https://a.org/p/q.html")?.href),
  ).toEqual(expected);
});

it("an invalid address of a database in the link is a missing file of the site", () => {
  vi.stubGlobal("document", { baseURI: "https://a.org/p/" });
  for (const address of HOSTILE) {
    vi.stubGlobal("location", {
      search: `?db=${encodeURIComponent(address)}&book=${encodeURIComponent(address)}`,
    });
    for (const url of [manifestUrl(), bookUrl()])
      expect(url.href).toMatch(/^https:\/\/a\.org\/p\/[^/]+$/);
  }
});
