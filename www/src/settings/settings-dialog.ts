/** The settings dialog. Each change is stored and takes effect immediately. */
import { inMebibytes, MEBIBYTE, plural, size } from "../text/units";
import type { DatabaseClient } from "../database/client";
import { showDialog } from "../shell/dialog";
import { make } from "../shell/dom";
import { dataUrl, endgamesUrl } from "./data-urls";
import { BOARDS, CACHES, load, PIECES, save, type Settings } from "./settings";

const NAMES: Record<string, string> = {
  brown: "Brown",
  green: "Green",
  blue: "Blue",
  grey: "Grey",
  cburnett: "Drawn (cburnett)",
  geometric: "Geometric",
  tokens: "Tokens",
  letters: "Letters",
};

export function showSettings(
  client: DatabaseClient,
  engine: (isOn: boolean) => void,
): void {
  const settings = load();
  const change = (part: Partial<Settings>) =>
    save(Object.assign(settings, part));
  const field = (label: string, ...content: HTMLElement[]) =>
    make("label", { className: "field" }, make("span", {}, label), ...content);
  const choice = <K extends "board" | "cache">(
    id: string,
    name: K,
    values: readonly Settings[K][],
    label: (value: Settings[K]) => string,
  ) => {
    const options = values.map((value) =>
      make(
        "option",
        { value: String(value), selected: value === settings[name] },
        label(value),
      ),
    );
    const select = make("select", { "data-testid": id }, ...options);
    select.addEventListener("change", () =>
      change({ [name]: values[select.selectedIndex] } as Partial<Settings>),
    );
    return select;
  };
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
    field(
      "Board",
      choice("set-board", "board", BOARDS, (board) => NAMES[board] ?? board),
    ),
    make(
      "fieldset",
      { className: "piece-sets" },
      make("legend", {}, "Pieces"),
      ...PIECES.map((pieces) =>
        pieceSet(pieces, pieces === settings.pieces, () => change({ pieces })),
      ),
    ),
    field("Sounds", sounds),
    field("Engine for positions that are not in the database", engineOn),
    make("h3", {}, "Database"),
    ...address(database(client), change),
    make("h3", {}, "Endgame tables"),
    ...address(endgames(settings.endgames), change),
    make("h3", {}, "Cache"),
    field(
      "Maximum size",
      choice("set-cache", "cache", CACHES, (mebibytes) =>
        mebibytes === 0 ? "None" : inMebibytes(mebibytes * MEBIBYTE),
      ),
    ),
    cache(client),
  );
}

/** Pieces that show a set. */
const SAMPLE = ["white king", "black queen", "white knight"];

/** Returns the choice of a set of pieces, with a picture of its pieces. Its name is the name of the set. */
function pieceSet(
  pieces: Settings["pieces"],
  isChosen: boolean,
  choose: () => void,
): HTMLElement {
  const input = make("input", {
    type: "radio",
    name: "pieces",
    checked: isChosen,
    "data-testid": `set-pieces-${pieces}`,
  });
  input.addEventListener("change", choose);
  const sample = SAMPLE.map((className) =>
    make("piece" as "span", { className }),
  );
  return make(
    "label",
    { className: "option" },
    input,
    make(
      "span",
      {
        className: "cg-wrap piece-set",
        "data-pieces": pieces,
        "aria-hidden": "true",
      },
      ...sample,
    ),
    NAMES[pieces] ?? pieces,
  );
}

/** A kind of data that the address of the page, the settings, or the site names. */
interface Data {
  /** Name of the setting, and of the page's parameter. */
  setting: "database" | "endgames";
  parameter: "db" | "endgames";
  /** The data in words. */
  name: string;
  /** The file that a folder's address stands for. */
  file: string;
  /** The address that is used now. */
  current: URL;
  status: string;
  hint: HTMLElement;
}

function database({ url, manifest }: DatabaseClient): Data {
  const hint = make(
    "p",
    { className: "hint" },
    "The address of a database’s folder or manifest. The host must allow other sites to read it (CORS). Examples: ",
    make("code", {}, "https://example.org/db/"),
    ", ",
    make("code", {}, "https://bucket.example.org/2026-11/manifest.json"),
    ", or next to this page: ",
    make("code", {}, "db/"),
  );
  const status = manifest
    ? `Open: ${plural(manifest.positions, "position")}, ${size(manifest.bytes)}.`
    : "This database is not open.";
  return {
    setting: "database",
    parameter: "db",
    name: "database",
    file: "manifest.json",
    current: url,
    status,
    hint,
  };
}

function endgames(set: string | undefined): Data {
  const hint = make(
    "p",
    { className: "hint" },
    "The address of a folder with Syzygy tables and their index (“shelfish endgames index”). This site has all tables of up to four pieces.",
  );
  return {
    setting: "endgames",
    parameter: "endgames",
    name: "endgame tables",
    file: "endgames.index",
    current: endgamesUrl(set),
    status: "",
    hint,
  };
}

/** Returns the field for the address of data, and the buttons that use another address. */
function address(
  { setting, parameter, name, file, current, status, hint }: Data,
  change: (part: Partial<Settings>) => void,
): HTMLElement[] {
  const id = `${setting}-status`;
  const input = make("input", {
    type: "text",
    value: current.href,
    spellcheck: false,
    autocomplete: "off",
    "data-testid": `set-${setting}`,
    "aria-label": `Address of the ${name}`,
    "aria-describedby": id,
  });
  const output = make(
    "p",
    { id, className: "outcome", role: "status", "data-testid": id },
    status,
  );
  const visitWith = (value: string | undefined) => {
    change({ [setting]: value });
    visit(parameter, value);
  };
  const use = make(
    "button",
    { type: "button", "data-testid": `use-${setting}` },
    "Use",
  );
  use.addEventListener("click", () => {
    const error = addressError(input.value);
    input.toggleAttribute("aria-invalid", false);
    if (error) {
      input.setAttribute("aria-invalid", "true");
      output.textContent = error;
      return;
    }
    visitWith(fileOf(input.value, file).href);
  });
  const usual = make(
    "button",
    { type: "button", "data-testid": `usual-${setting}` },
    `Use the ${name} of this site`,
  );
  usual.addEventListener("click", () => visitWith(undefined));
  return [
    input,
    output,
    make("div", { className: "choices" }, use, usual),
    hint,
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

/** Reloads the page with other data. The position stays. */
function visit(parameter: string, address: string | undefined): void {
  const url = new URL(location.href);
  if (address) url.searchParams.set(parameter, address);
  else url.searchParams.delete(parameter);
  if (url.href === location.href) location.reload();
  else location.assign(url);
}

/** Returns the URL of a file from its own address or its folder's address. */
function fileOf(address: string, file: string): URL {
  const url = new URL(address.trim(), document.baseURI);
  const ending = file.slice(file.indexOf("."));
  if (!url.pathname.endsWith(ending))
    url.pathname = `${url.pathname.replace(/\/$/, "")}/${file}`;
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
