/** Opens games from the dialog, from pasted text and from dropped files. */
import { byId, isField } from "../shell/dom";
import type { InputError } from "../text/input-error";
import { loadOnce } from "../loading/load-once";
import type { OpenDialog } from "./open-dialog";
import { loadPart } from "../loading/page-part";

/** Binds the controls and returns the function that shows the dialog. `showMessage` reports errors if the dialog cannot be loaded. */
export function bindOpen(open: (input: string | File) => Promise<void>, showMessage: (fault: string) => void): () => void {
  const dialog = loadOnce(async () => (await loadPart(import("./open-dialog"))).openDialog(open));
  const use = (what: (dialog: OpenDialog) => void) => void dialog().then(what, (error: InputError) => showMessage(error.message));
  const ask = () => use((dialog) => dialog.ask());
  const give = (input: string | File) => use((dialog) => void dialog.attempt(input));

  byId("open").addEventListener("click", ask);
  document.addEventListener("paste", (event) => {
    const pasted = event.clipboardData?.files[0] ?? event.clipboardData?.getData("text/plain");
    if (!pasted || isField(event.target)) return;
    event.preventDefault();
    give(pasted);
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
    if (dropped) give(dropped);
  });
  return ask;
}
