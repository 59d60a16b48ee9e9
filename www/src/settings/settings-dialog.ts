/** The settings dialog. Each change is stored and takes effect immediately. */
import { inMebibytes, MEBIBYTE, plural, size } from "../text/units";
import type { DatabaseClient } from "../database/client";
import { showDialog } from "../shell/dialog";
import { make } from "../shell/dom";
import { dataUrl } from "./data-urls";
import { BOARDS, CACHES, load, PIECES, save, type Settings } from "./settings";

const NAMES: Record<string, string> = { brown: "Brown", green: "Green", blue: "Blue", grey: "Grey", cburnett: "Drawn (cburnett)", geometric: "Geometric", tokens: "Tokens", letters: "Letters" };

export function showSettings(client: DatabaseClient, engine: (isOn: boolean) => void): void {
  const settings = load();
  const change = (part: Partial<Settings>) => save(Object.assign(settings, part));
  const field = (label: string, ...content: HTMLElement[]) => make("label", { className: "field" }, make("span", {}, label), ...content);
  const choice = <K extends "board" | "pieces" | "cache">(id: string, name: K, values: readonly Settings[K][], label: (value: Settings[K]) => string) => {
    const options = values.map((value) => make("option", { value: String(value), selected: value === settings[name] }, label(value)));
    const select = make("select", { "data-testid": id }, ...options);
    select.addEventListener("change", () => change({ [name]: values[select.selectedIndex] } as Partial<Settings>));
    return select;
  };
  const sounds = make("input", { type: "checkbox", checked: settings.sounds, "data-testid": "set-sounds" });
  sounds.addEventListener("change", () => change({ sounds: sounds.checked }));
  const engineOn = make("input", { type: "checkbox", checked: settings.engine, "data-testid": "set-engine" });
  engineOn.addEventListener("change", () => {
    change({ engine: engineOn.checked });
    engine(engineOn.checked);
  });
  showDialog(
    "settings-dialog",
    "Settings",
    field("Board", choice("set-board", "board", BOARDS, (board) => NAMES[board] ?? board)),
    field("Pieces", choice("set-pieces", "pieces", PIECES, (pieces) => NAMES[pieces] ?? pieces)),
    field("Sounds", sounds),
    field("Engine for positions that are not in the database", engineOn),
    make("h3", {}, "Database"),
    ...database(client, change),
    make("h3", {}, "Cache"),
    field("Maximum size", choice("set-cache", "cache", CACHES, (mebibytes) => (mebibytes === 0 ? "None" : inMebibytes(mebibytes * MEBIBYTE)))),
    cache(client),
  );
}

/** Returns the field for the database's address, the state of the database, and examples. */
function database(client: DatabaseClient, change: (part: Partial<Settings>) => void): HTMLElement[] {
  const input = make("input", { type: "text", value: client.url.href, spellcheck: false, autocomplete: "off", "data-testid": "set-database", "aria-label": "Address of the database", "aria-describedby": "database-status" });
  const output = make("p", { id: "database-status", className: "outcome", role: "status", "data-testid": "database-status" });
  const { manifest } = client;
  output.textContent = manifest ? `Open: ${plural(manifest.positions, "position")}, ${size(manifest.bytes)}.` : "This database is not open.";
  const use = make("button", { type: "button", "data-testid": "use-database" }, "Use");
  use.addEventListener("click", () => {
    const fault = faultOf(input.value);
    input.toggleAttribute("aria-invalid", false);
    if (fault) {
      input.setAttribute("aria-invalid", "true");
      output.textContent = fault;
      return;
    }
    const url = manifestOf(input.value);
    change({ database: url.href });
    visit(url.href);
  });
  const usual = make("button", { type: "button", "data-testid": "usual-database" }, "Use the database of this site");
  usual.addEventListener("click", () => {
    change({ database: undefined });
    visit(undefined);
  });
  const examples = make(
    "p",
    { className: "hint" },
    "The address of a database’s folder or manifest. The host must allow other sites to read it (CORS). Examples: ",
    make("code", {}, "https://example.org/db/"),
    ", ",
    make("code", {}, "https://bucket.example.org/2026-11/manifest.json"),
    ", or next to this page: ",
    make("code", {}, "db/"),
  );
  return [input, output, make("div", { className: "choices" }, use, usual), examples];
}

/** Returns the size of the cache and the button that clears it. */
function cache(client: DatabaseClient): HTMLElement {
  const used = make("span", { "data-testid": "cache-use" }, "…");
  const measure = async () => {
    const estimate = await navigator.storage?.estimate?.().catch(() => undefined);
    used.textContent = estimate?.usage === undefined ? "This browser does not report the size of the cache." : `This site stores ${size(estimate.usage)} in this browser.`;
  };
  void measure();
  const clear = make("button", { type: "button", "data-testid": "clear-cache" }, "Clear the cache");
  clear.addEventListener("click", async () => {
    try {
      await client.clear();
      await measure();
      used.textContent = `Cleared. ${used.textContent}`;
    } catch (error) {
      used.textContent = `The cache could not be cleared: ${error instanceof Error ? error.message : String(error)}`;
    }
  });
  return make("div", { className: "choices" }, clear, used);
}

/** Reloads the page with another database. The position stays. */
function visit(database: string | undefined): void {
  const url = new URL(location.href);
  if (database) url.searchParams.set("db", database);
  else url.searchParams.delete("db");
  if (url.href === location.href) location.reload();
  else location.assign(url);
}

/** Returns the URL of a manifest from its own address or its folder's address. */
function manifestOf(address: string): URL {
  const url = new URL(address.trim(), document.baseURI);
  if (!/\.json$/.test(url.pathname)) url.pathname = `${url.pathname.replace(/\/$/, "")}/manifest.json`;
  return url;
}

/** Explains what is wrong with an address. */
function faultOf(address: string): string | undefined {
  const text = address.trim();
  const url = text === "" ? undefined : dataUrl(text, document.baseURI);
  if (!url) {
    const protocol = URL.canParse(text) ? new URL(text).protocol : "https:";
    return protocol === "https:" || protocol === "http:" ? "This is not an address. Enter an address such as https://example.org/db/." : `The address starts with ${protocol}, expected https:.`;
  }
  const isLocal = url.hostname === "localhost" || url.hostname === "127.0.0.1";
  if (url.protocol === "http:" && location.protocol === "https:" && !isLocal) return "A page loaded by https: cannot read from http:. Use an https: address.";
  return undefined;
}
