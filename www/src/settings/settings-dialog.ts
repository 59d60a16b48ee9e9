/** The settings dialog. Each change is stored and takes effect immediately. */
import { capitalised, size } from "../text/units";
import type { DatabaseClient } from "../database/client";
import { showDialog } from "../shell/dialog";
import { make } from "../shell/dom";
import { BOARDS, change, load } from "./settings";

export function showSettings(
  client: DatabaseClient,
  engine: (isOn: boolean) => void,
  toggleEvaluations: () => void,
): void {
  const settings = load();
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
  const box = (id: string, checked: boolean, does: (is: boolean) => void) => {
    const input = make("input", {
      type: "checkbox",
      checked,
      "data-testid": id,
    });
    input.addEventListener("change", () => does(input.checked));
    return input;
  };
  showDialog(
    "settings-dialog",
    "Settings",
    field("Board", boards),
    field(
      "Evaluations and arrows",
      box("set-evaluations", settings.evaluations, toggleEvaluations),
    ),
    field(
      "Engine for positions that are not in the database",
      box("set-engine", settings.engine, (isOn) => {
        change({ engine: isOn });
        engine(isOn);
      }),
    ),
    make("h3", {}, "Cache"),
    cache(client),
  );
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
