/** The dialog that opens a text, an address or a file. Loaded when it is first needed. */
import { closeDone, createDialog, showModal } from "../shell/dialog";
import { make, makeButton, showFieldError } from "../shell/dom";
import { InputError } from "../text/words";

export interface OpenDialog {
  ask(): void;
  /** Opens input from elsewhere on the page. Shows the dialog with the reason if that fails. */
  attempt(input: string | File): Promise<void>;
}

/** Opens an input. `correct` shows the input again, with an error in it. */
export type Open = (
  input: string | File,
  correct: (error: InputError) => void,
) => Promise<void>;

/** Maximum length of a text that the field shows. */
const MAX_SHOWN = 100_000;

/** Creates the dialog. `open` opens the input; if it throws an `InputError`, the dialog stays open, shows the message and selects its place. */
export function openDialog(open: Open): OpenDialog {
  const text = make("textarea", {
    rows: 8,
    spellcheck: false,
    autocomplete: "off",
    "aria-label": "PGN, FEN, address or user name",
    "aria-describedby": "open-error",
    "data-testid": "open-text",
  });
  const errorText = make("p", {
    id: "open-error",
    className: "error",
    role: "alert",
    "data-testid": "open-error",
  });
  const file = make("input", {
    type: "file",
    accept: ".pgn,.txt,.fen,application/x-chess-pgn,text/plain",
    hidden: true,
    "data-testid": "open-file",
  });
  const pick = make(
    "button",
    { className: "at-start", "data-testid": "open-pick" },
    "File…",
  );
  const submit = makeButton(
    { className: "primary", "data-testid": "open-submit" },
    () => attempt(text.value),
    "Open",
  );
  const dialog = createDialog(
    "open",
    "Open a position or a game",
    [
      make(
        "p",
        {},
        "Paste a PGN, a FEN, the address of a game or a study at Lichess, or enter the user name of a player at Lichess or Chess.com. You can also paste anywhere on the page, or drop a file on it.",
      ),
      text,
      errorText,
      file,
    ],
    [pick, submit],
  );
  let attempts = 0;

  const complain = (error?: InputError) => {
    showFieldError(text, errorText, error?.message ?? "");
    if (!error) return;
    const [part, at] = error.place ?? ["", 0];
    const from = part ? text.value.indexOf(part) + at : -1;
    const word = /^\S*/.exec(text.value.slice(from))?.[0] ?? "";
    if (from >= at) text.setSelectionRange(from, from + word.length);
    text.focus();
  };
  const ask = () => {
    complain();
    showModal(dialog);
    text.focus();
    text.select();
  };
  const show = async (input: string | File, error: InputError) => {
    const size = typeof input === "string" ? input.length : input.size;
    const shown = size < MAX_SHOWN ? input : "";
    text.value = typeof shown === "string" ? shown : await shown.text();
    if (error.place && !text.value.includes(error.place[0])) text.value = "";
    ask();
    complain(error);
  };
  const attempt = async (input: string | File) => {
    const mine = ++attempts;
    complain();
    dialog.ariaBusy = "true";
    try {
      await open(input, (error) => void show(input, error));
      if (mine !== attempts) return;
      closeDone(dialog);
      text.value = "";
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      if (mine !== attempts) return;
      if (dialog.open && input === text.value) complain(error);
      else await show(input, error);
    } finally {
      if (mine === attempts) dialog.ariaBusy = null;
    }
  };

  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey))
      submit.click();
  });
  pick.addEventListener("click", () => file.click());
  file.addEventListener("change", () => {
    const picked = file.files?.[0];
    if (picked) void attempt(picked);
    file.value = "";
  });
  return { ask, attempt };
}
