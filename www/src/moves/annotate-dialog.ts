/** The dialog for the comment and the glyph of a move. Loaded when it is first opened. */
import { closeDone, showDialog } from "../shell/dialog";
import { make } from "../shell/dom";
import { moveNumber } from "../game/game";
import type { State } from "../state/state";

/** The glyphs of a move by their numbers in PGN; 0 for a move without a glyph. */
const GLYPHS = [
  [0, "None"],
  [1, "! good"],
  [3, "!! brilliant"],
  [5, "!? interesting"],
  [6, "?! dubious"],
  [2, "? mistake"],
  [4, "?? blunder"],
] as const;

/** Maximum number of characters of a comment. */
const MAX_COMMENT = 4_000;

/** Shows the dialog for the move on the board, or for the comment of the game at its start. */
export function showAnnotate(state: State): void {
  const { node } = state;
  const { comment = "", nags } = node.notes;
  const move = node.parent
    ? `${moveNumber(node.parent.position)} ${node.san}`
    : "the game";
  const text = make("textarea", {
    rows: 5,
    value: comment,
    maxLength: MAX_COMMENT,
    "aria-label": "Comment",
    "data-testid": "annotate-text",
  });
  const glyphs = GLYPHS.map(([nag, label]) => {
    const radio = make("input", {
      type: "radio",
      name: "glyph",
      value: nag,
      checked:
        nag === 0
          ? !GLYPHS.some(([each]) => nags.includes(each))
          : nags.includes(nag),
      "data-testid": `glyph-${nag}`,
    });
    return [nag, radio, make("label", {}, radio, label)] as const;
  });
  const choices = node.parent
    ? [
        make(
          "fieldset",
          { className: "glyphs" },
          make("legend", {}, "Glyph"),
          ...glyphs.map(([, , label]) => label),
        ),
      ]
    : [];
  const save = make(
    "button",
    { type: "button", className: "primary", "data-testid": "annotate-save" },
    "Save",
  );
  const dialog = showDialog(
    "annotate-dialog",
    `Comment on ${move}`,
    text,
    ...choices,
    make("div", { className: "choices" }, save),
  );
  const apply = () => {
    const [chosen = 0] = glyphs.flatMap(([nag, radio]) =>
      radio.checked ? [nag] : [],
    );
    // The dialog closes first: the focus returns to the page.
    closeDone(dialog);
    state.annotate(node, text.value.trim(), chosen);
  };
  save.addEventListener("click", apply);
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    apply();
  });
  text.focus();
}
