/** Dialogs that are created when they open and removed when they close. */
import "../style/dialogs.css";
import { make } from "./dom";

/** Shows a dialog with a title, content and a Close button. */
export function showDialog(id: string, title: string, ...content: (Node | string)[]): HTMLDialogElement {
  const close = make("button", { type: "submit", className: "primary", "data-testid": `${id}-close` }, "Close");
  const form = make("form", { method: "dialog" }, make("h2", { id: `${id}-title` }, title), ...content, make("div", { className: "actions" }, close));
  const dialog = make("dialog", { "data-testid": id, "aria-labelledby": `${id}-title` }, form);
  // A click on the backdrop closes the dialog.
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
