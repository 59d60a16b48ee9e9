/** The dialog that takes a position or a game: pasted, dropped or picked as a file, or named by its address. */
import { byId, isField } from "./dom";
import { InputError } from "./fault";

/**
 * Binds the dialog, and pasting and dropping anywhere on the page; gives the function that shows it. `open` reads what is
 * given; an `InputError` keeps the dialog, with its message.
 */
export function bindOpenDialog(open: (input: string | File) => Promise<void>): () => void {
  const dialog = byId<HTMLDialogElement>("open-dialog");
  const form = byId<HTMLFormElement>("open-form");
  const text = byId<HTMLTextAreaElement>("open-text");
  const file = byId<HTMLInputElement>("open-file");
  const fault = byId("open-error");
  let attempts = 0;

  const complain = (error?: InputError) => {
    fault.textContent = error?.message ?? "";
    if (!error) {
      text.removeAttribute("aria-invalid");
      return;
    }
    text.setAttribute("aria-invalid", "true");
    text.focus();
    if (error.line !== undefined) select(text, error.line);
  };
  const ask = () => {
    complain();
    if (!dialog.open) dialog.showModal();
    text.focus();
    text.select();
  };
  /** Opens it; if that fails, the dialog shows why. A long text is not put into the field. */
  const attempt = async (input: string | File) => {
    const mine = ++attempts;
    complain();
    form.setAttribute("aria-busy", "true");
    try {
      await open(input);
      if (mine !== attempts) return;
      dialog.close();
      text.value = "";
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      if (mine !== attempts) return;
      if (!dialog.open) {
        text.value = typeof input === "string" && input.length < 100_000 ? input : "";
        ask();
      }
      complain(error);
    } finally {
      if (mine === attempts) form.removeAttribute("aria-busy");
    }
  };

  // A click on the backdrop closes.
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  byId("open").addEventListener("click", ask);
  byId("open-cancel").addEventListener("click", () => dialog.close());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void attempt(text.value);
  });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  byId("open-pick").addEventListener("click", () => file.click());
  file.addEventListener("change", () => {
    const picked = file.files?.[0];
    if (picked) void attempt(picked);
    file.value = "";
  });

  document.addEventListener("paste", (event) => {
    const pasted = event.clipboardData?.files[0] ?? event.clipboardData?.getData("text/plain");
    if (!pasted || isField(event.target)) return;
    event.preventDefault();
    void attempt(pasted);
  });
  const dropping = (is: boolean) => document.body.classList.toggle("dropping", is);
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    dropping(true);
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) dropping(false);
  });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    dropping(false);
    const dropped = event.dataTransfer?.files[0] ?? event.dataTransfer?.getData("text/plain");
    if (dropped) void attempt(dropped);
  });
  return ask;
}

/** Marks a line of the text. */
function select(text: HTMLTextAreaElement, line: number): void {
  const lines = text.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  const wanted = lines[line - 1];
  if (wanted !== undefined) text.setSelectionRange(start, start + wanted.length);
}
