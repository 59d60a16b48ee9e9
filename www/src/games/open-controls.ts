/** Opens games from the dialog, from pasted text and from dropped files. */
import { byId, isField } from "../shell/dom";
import type { InputError } from "../text/words";
import { loadOnce, loadPart } from "../loading/loading";
import type { Open, OpenDialog } from "./open-dialog";

/** Binds the controls and returns the function that shows the dialog. `showMessage` reports errors if the dialog cannot be loaded. */
export function bindOpen(
  open: Open,
  showMessage: (error: string) => void,
): () => void {
  const dialog = loadOnce(async () =>
    (await loadPart(import("./open-dialog"))).openDialog(open),
  );
  const use = (what: (dialog: OpenDialog) => void) =>
    void dialog().then(what, (error: InputError) => showMessage(error.message));
  const ask = () => use((dialog) => dialog.ask());
  const give = (input: string | File) =>
    use((dialog) => void dialog.attempt(input));

  byId("open").addEventListener("click", ask);
  bindQuick(give, ask);
  document.addEventListener("paste", (event) => {
    const pasted =
      event.clipboardData?.files[0] ??
      event.clipboardData?.getData("text/plain");
    if (!pasted || isField(event.target)) return;
    event.preventDefault();
    give(pasted);
  });
  const dropping = (is: boolean) =>
    document.body.classList.toggle("dropping", is);
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
    const dropped =
      event.dataTransfer?.files[0] ?? event.dataTransfer?.getData("text/plain");
    if (dropped) give(dropped);
  });
  return ask;
}

/** Binds the field of the first page. A pasted text is opened at once. If it cannot be opened, the dialog shows it with the reason. */
function bindQuick(
  open: (input: string | File) => void,
  ask: () => void,
): void {
  const [form, field] = [
    byId<HTMLFormElement>("quick"),
    byId<HTMLTextAreaElement>("quick-text"),
  ];
  const take = (input: string | File | undefined) => {
    field.value = "";
    if (input instanceof File || input?.trim()) open(input);
    else ask();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    take(field.value);
  });
  field.addEventListener("paste", (event) => {
    const pasted =
      event.clipboardData?.files[0] ??
      event.clipboardData?.getData("text/plain");
    if (!pasted || field.value !== "") return;
    event.preventDefault();
    take(pasted);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
}
