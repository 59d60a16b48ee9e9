/** Dialogs: their focus, and dialogs that are created when they open and removed when they close. */
import "../style/dialogs.css";
import { make, makeButton } from "./dom";

/** The return value of a dialog that has changed the page. */
const DONE = "done";

/**
 * Shows a dialog. When it closes, the browser focuses the element that had the focus before: keys of the board would press that button again. The
 * focus goes to the page instead, unless the button was reached by keys and the dialog has changed nothing.
 */
export function showModal(dialog: HTMLDialogElement): void {
  if (dialog.open) return;
  const isByKey = document.activeElement?.matches(":focus-visible");
  dialog.returnValue = "";
  dialog.showModal();
  const focusPage = () => {
    const main = document.querySelector("main");
    if (!main || (isByKey && dialog.returnValue !== DONE)) return;
    main.tabIndex = -1;
    main.focus({ preventScroll: true });
  };
  dialog.addEventListener("close", focusPage, { once: true });
}

/** Closes a dialog that has changed the page. */
export const closeDone = (dialog: HTMLDialogElement): void =>
  dialog.close(DONE);

/** Closes a dialog by a click on its backdrop. Browsers also report a click after a drag from the dialog to the backdrop, which does not close it. */
export function closeOnBackdrop(dialog: HTMLDialogElement): void {
  let isOnBackdrop = false;
  dialog.addEventListener(
    "pointerdown",
    ({ target }) => (isOnBackdrop = target === dialog),
  );
  dialog.addEventListener(
    "click",
    ({ target }) => target === dialog && isOnBackdrop && dialog.close(),
  );
}

/** Shows a dialog with a title, content and a Close button, which is removed when it closes. */
export function showDialog(
  id: string,
  title: string,
  ...content: HTMLElement[]
): HTMLDialogElement {
  const dialog = createDialog(id, title, content);
  dialog.addEventListener("close", () => dialog.remove());
  showModal(dialog);
  // A long dialog would be scrolled to the button at its end.
  if (dialog.scrollTop > 0) {
    dialog.querySelector("h2")?.focus();
    dialog.scrollTop = 0;
  }
  return dialog;
}

/** Creates a dialog that stays on the page, with a title, content, and actions that end with a Close button. */
export function createDialog(
  id: string,
  title: string,
  content: readonly HTMLElement[],
  actions: readonly HTMLElement[] = [],
  className = "sheet",
): HTMLDialogElement {
  const close = makeButton(
    { className: "primary", "data-testid": `${id}-close` },
    () => dialog.close(),
    "Close",
  );
  const dialog: HTMLDialogElement = make(
    "dialog",
    {
      className,
      "data-testid": `${id}-dialog`,
      "aria-labelledby": `${id}-title`,
    },
    make("h2", { id: `${id}-title`, tabIndex: -1 }, title),
    ...content,
    make("div", "actions", ...actions, close),
  );
  document.body.append(dialog);
  closeOnBackdrop(dialog);
  return dialog;
}
