/** The dialog that opens a text. */
import { byId, isField } from "./dom";
import { InputError } from "./input";

/** Binds the dialog that takes a FEN or a PGN. `open` reads the text; an `InputError` keeps the dialog, with its message. */
export function bindOpenDialog(open: (text: string) => void): { ask: () => void; offer: (text: string) => void } {
  const dialog = byId<HTMLDialogElement>("open-dialog");
  const text = byId<HTMLTextAreaElement>("open-text");
  const fault = byId("open-error");
  const attempt = (): boolean => {
    try {
      open(text.value);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      fault.textContent = error.message;
      text.setAttribute("aria-invalid", "true");
      return false;
    }
    return true;
  };
  const ask = () => {
    fault.textContent = "";
    text.removeAttribute("aria-invalid");
    if (!dialog.open) dialog.showModal();
    text.focus();
    text.select();
  };
  // A click on the backdrop closes.
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  byId("open").addEventListener("click", ask);
  byId("open-cancel").addEventListener("click", () => dialog.close());
  dialog.querySelector("form")?.addEventListener("submit", (event) => {
    if (attempt()) text.value = "";
    else {
      event.preventDefault();
      text.focus();
    }
  });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) dialog.querySelector("form")?.requestSubmit();
  });
  /** A text from elsewhere: opened at once, or shown with its fault. */
  const offer = (offered: string) => {
    text.value = offered;
    if (attempt()) {
      text.value = "";
      return;
    }
    const message = fault.textContent;
    ask();
    fault.textContent = message;
    text.setAttribute("aria-invalid", "true");
  };
  document.addEventListener("paste", (event) => {
    const pasted = event.clipboardData?.getData("text/plain");
    if (!pasted || isField(event.target)) return;
    event.preventDefault();
    offer(pasted);
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (file) void file.text().then(offer, () => offer(""));
    else offer(event.dataTransfer?.getData("text/plain") ?? "");
  });
  return { ask, offer };
}
