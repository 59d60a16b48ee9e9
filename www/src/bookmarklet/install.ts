/** The page that installs the bookmarklet. */
import code from "virtual:bookmarklet";
import { byId, showFieldError } from "../shell/dom";
import { bindTheme } from "../shell/theme";
import { messageOf } from "../text/input-error";
import { boardBeside, bookmarkletLink } from "./link";
import { pastedFragment } from "./pasted";

const board = boardBeside(location.href);
const link = bookmarkletLink(code, board);

bindTheme();

const button = byId<HTMLAnchorElement>("bookmarklet");
button.href = link;
button.addEventListener("click", (event) => {
  event.preventDefault();
  byId("installed").textContent =
    "This is the button to drag. Press it in your bookmarks bar, on the page of a game.";
});
byId("size").textContent =
  `one link of ${link.length.toLocaleString("en")} characters`;

byId("copy").addEventListener("click", () => {
  const said = byId("copied");
  const fallback = () => {
    // If the browser does not allow copying, the code is shown and selected.
    const field = byId<HTMLTextAreaElement>("pasted");
    field.value = link;
    field.focus();
    field.select();
    said.textContent =
      "This browser does not let the page copy. The code is in the field below, selected: copy it from there.";
  };
  // The clipboard is unavailable if the page is not served by HTTPS.
  if (!navigator.clipboard) return fallback();
  navigator.clipboard.writeText(link).then(() => {
    said.textContent = "Copied. Paste it as the address of a bookmark.";
  }, fallback);
});

const text = byId<HTMLTextAreaElement>("pasted");
const errorText = byId("paste-error");
const form = byId<HTMLFormElement>("paste");
form.addEventListener("submit", (event) => {
  event.preventDefault();
  try {
    const fragment = pastedFragment(text.value);
    location.assign(`${board}#${fragment}`);
  } catch (error) {
    showFieldError(text, errorText, messageOf(error));
    text.focus();
  }
});
text.addEventListener("input", () => showFieldError(text, errorText, ""));
text.addEventListener("keydown", (event) => {
  // A URL has one line; a PGN may have several.
  if (
    event.key !== "Enter" ||
    event.shiftKey ||
    (text.value.includes("\n") && !event.ctrlKey && !event.metaKey)
  )
    return;
  event.preventDefault();
  form.requestSubmit();
});
