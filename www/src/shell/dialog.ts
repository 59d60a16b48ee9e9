/** Dialogs: their focus, and dialogs that are created when they open and removed when they close. */
import "../style/dialogs.css";
import { copy, make, makeButton } from "./dom";

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
  delete dialog.dataset.typed;
  dialog.oninput = ({ target }) => {
    if (target instanceof HTMLTextAreaElement) markTyped(dialog, target.value);
  };
  dialog.oncancel = (event) => {
    if (event.target !== dialog || !dialog.dataset.typed) return;
    event.preventDefault();
    askToLeave(dialog);
  };
}

/** Makes a dialog ask before it closes, unless the text is empty. */
export function markTyped(dialog: HTMLDialogElement, text: string): void {
  dialog.dataset.typed = text.trim();
}

/** Asks whether a dialog may lose its text. */
function askToLeave(dialog: HTMLDialogElement): void {
  dialog.querySelector(".leave")?.remove();
  const leave = () => {
    for (const field of dialog.querySelectorAll("textarea")) field.value = "";
    dialog.close();
  };
  const keep = makeButton("leave-keep", () => row.remove(), "Keep it");
  const row = make(
    "div",
    { className: "leave", role: "alert" },
    make("span", {}, "Close and lose what you entered?"),
    makeButton("leave-close", leave, "Close"),
    keep,
  );
  dialog.addEventListener("close", () => row.remove(), { once: true });
  dialog.append(row);
  keep.focus();
}

/** Closes a dialog that has changed the page. */
export const closeDone = (dialog: HTMLDialogElement): void =>
  dialog.close(DONE);

/** Closes a dialog by a click on its backdrop. Browsers also report a click after a drag from the dialog to the backdrop, which does not close it. */
function closeOnBackdrop(dialog: HTMLDialogElement): void {
  let isOnBackdrop = false;
  dialog.addEventListener(
    "pointerdown",
    ({ target }) => (isOnBackdrop = target === dialog),
  );
  dialog.addEventListener(
    "click",
    ({ target }) =>
      target === dialog &&
      isOnBackdrop &&
      dialog.dispatchEvent(new Event("cancel", { cancelable: true })) &&
      dialog.close(),
  );
}

/** Copies a text, and says so, or shows the text if the browser does not allow it. */
export const copied = async (what: string, text: string): Promise<string> =>
  (await copy(text))
    ? `${what} copied.`
    : `This browser does not allow copying. ${what}: ${text}`;

/** Shows a dialog with a title, content and a Close button, which is removed when it closes. */
export function showDialog(
  id: string,
  title: string,
  content: readonly HTMLElement[],
  actions?: readonly HTMLElement[],
): HTMLDialogElement {
  const dialog = createDialog(id, title, content, actions);
  dialog.addEventListener("close", () => dialog.remove());
  showModal(dialog);
  // A long dialog would be scrolled to the button at its end.
  if (dialog.scrollTop > 0) {
    dialog.querySelector("h2")?.focus();
    dialog.scrollTop = 0;
  }
  return dialog;
}

/** Creates a dialog that stays on the page, with a title, content, and actions. Its one primary button is last: that of the actions, or Close. */
export function createDialog(
  id: string,
  title: string,
  content: readonly HTMLElement[],
  actions: readonly HTMLElement[] = [],
  className = "sheet",
): HTMLDialogElement {
  const primary = actions.filter((each) => each.matches(".primary"));
  const [word, kind] =
    primary.length > 0 ? ["Cancel", ""] : ["Close", "primary"];
  const close = makeButton(
    { className: kind, "data-testid": `${id}-close` },
    () => dialog.close(),
    word,
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
    make(
      "div",
      "actions",
      ...actions.filter((each) => !primary.includes(each)),
      close,
      ...primary,
    ),
  );
  document.body.append(dialog);
  closeOnBackdrop(dialog);
  return dialog;
}
