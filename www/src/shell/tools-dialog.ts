/** The dialog with the tools of the board. Loaded when it is first opened. */
import { closeDone, showDialog } from "./dialog";
import { make, makeButton } from "./dom";

export interface Tool {
  id: string;
  label: string;
  /** The key that does the same. */
  key: string;
  /** Whether the tool is on; `undefined` for a tool that is not switched on and off. */
  isOn?: boolean;
  use(): void;
}

/** Shows the tools. A tool closes the dialog. */
export function showTools(tools: readonly Tool[]): void {
  const buttons = tools.map(({ id, label, key, isOn, use }) => {
    const state = isOn === undefined ? {} : { "aria-pressed": isOn };
    const close = () => {
      closeDone(dialog);
      use();
    };
    return makeButton(
      { "data-testid": `tool-${id}`, ...state },
      close,
      make("span", {}, label),
      make("kbd", {}, key),
    );
  });
  const dialog = showDialog(
    "tools-dialog",
    "Tools",
    make("div", { className: "tool-list" }, ...buttons),
  );
  buttons[0]?.focus();
}
