/** The settings dialog. Each change is stored and takes effect immediately. */
import { capitalised, plural, size } from "../text/units";
import type { DatabaseClient } from "../database/client";
import { showDialog } from "../shell/dialog";
import { make, makeButton, showFieldError } from "../shell/dom";
import { BOARDS, dataUrl, load, save, type Settings } from "./settings";

export function showSettings(
  client: DatabaseClient,
  engine: (isOn: boolean) => void,
): void {
  const settings = load();
  const change = (part: Partial<Settings>) =>
    save(Object.assign(settings, part));
  const field = (label: string, ...content: HTMLElement[]) =>
    make("label", { className: "field" }, make("span", {}, label), ...content);
  const boards = make(
    "select",
    { "data-testid": "set-board" },
    ...BOARDS.map((board) =>
      make(
        "option",
        { value: board, selected: board === settings.board },
        capitalised(board),
      ),
    ),
  );
  boards.addEventListener("change", () =>
    change({ board: BOARDS[boards.selectedIndex] ?? "brown" }),
  );
  const sounds = make("input", {
    type: "checkbox",
    checked: settings.sounds,
    "data-testid": "set-sounds",
  });
  sounds.addEventListener("change", () => change({ sounds: sounds.checked }));
  const engineOn = make("input", {
    type: "checkbox",
    checked: settings.engine,
    "data-testid": "set-engine",
  });
  engineOn.addEventListener("change", () => {
    change({ engine: engineOn.checked });
    engine(engineOn.checked);
  });
  showDialog(
    "settings-dialog",
    "Settings",
    field("Board", boards),
    field("Sounds", sounds),
    field("Engine for positions that are not in the database", engineOn),
    make("h3", {}, "Database"),
    ...address(client, change),
    make("h3", {}, "Cache"),
    cache(client),
  );
}

/** Returns the field for the address of the database, and the buttons that use another database. */
function address(
  { url, manifest }: DatabaseClient,
  change: (part: Partial<Settings>) => void,
): HTMLElement[] {
  const input = make("input", {
    type: "text",
    value: url.href,
    spellcheck: false,
    autocomplete: "off",
    "data-testid": "set-database",
    "aria-label": "Address of the database",
    "aria-describedby": "database-status",
  });
  const output = make(
    "p",
    {
      id: "database-status",
      className: "outcome",
      role: "status",
      "data-testid": "database-status",
    },
    manifest
      ? `Open: ${plural(manifest.positions, "position")}, ${size(manifest.bytes)}.`
      : "This database is not open.",
  );
  const visitWith = (database?: string) => {
    change({ database });
    visit(database);
  };
  const use = () => {
    const error = addressError(input.value);
    showFieldError(input, output, error ?? "");
    if (!error) visitWith(manifestOf(input.value).href);
  };
  return [
    input,
    output,
    make(
      "div",
      { className: "choices" },
      makeButton("use-database", use, "Use"),
      makeButton(
        "usual-database",
        () => visitWith(),
        "Use the database of this site",
      ),
    ),
    make(
      "p",
      { className: "hint" },
      "The address of a database’s folder or manifest, such as https://example.org/db/. The host must allow other sites to read it (CORS).",
    ),
  ];
}

/** Returns the size of the cache and the button that clears it. */
function cache(client: DatabaseClient): HTMLElement {
  const used = make("span", { "data-testid": "cache-use" }, "…");
  const measure = async () => {
    const estimate = await navigator.storage
      ?.estimate?.()
      .catch(() => undefined);
    used.textContent =
      estimate?.usage === undefined
        ? "This browser does not report the size of the cache."
        : `This site stores ${size(estimate.usage)} in this browser.`;
  };
  void measure();
  const clear = make(
    "button",
    { type: "button", "data-testid": "clear-cache" },
    "Clear the cache",
  );
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
  if (!url.pathname.endsWith(".json"))
    url.pathname = `${url.pathname.replace(/\/$/, "")}/manifest.json`;
  return url;
}

/** Explains what is wrong with an address. */
function addressError(address: string): string | undefined {
  const text = address.trim();
  const url = text === "" ? undefined : dataUrl(text, document.baseURI);
  if (!url) {
    const protocol = URL.canParse(text) ? new URL(text).protocol : "https:";
    return protocol === "https:" || protocol === "http:"
      ? "This is not an address. Enter an address such as https://example.org/db/."
      : `The address starts with ${protocol}, expected https:.`;
  }
  const isLocal = url.hostname === "localhost" || url.hostname === "127.0.0.1";
  if (url.protocol === "http:" && location.protocol === "https:" && !isLocal)
    return "A page loaded by https: cannot read from http:. Use an https: address.";
  return undefined;
}
