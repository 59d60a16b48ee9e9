/** The dialog that copies or downloads the link, the position or the game. */
import { copy, make, makeButton } from "../shell/dom";
import { showDialog } from "../shell/dialog";
import { download, fileName, toPgn } from "../game/write-pgn";
import type { State } from "../state/state";
import { messageOf } from "../text/words";

/** Shows the dialog. `address` returns the link to the position; `annotated` adds the page's evaluations to a PGN. */
export function showShare(
  state: State,
  address: () => string,
  annotated: (pgn: string) => Promise<string>,
): void {
  const { game, node } = state;
  const output = make("p", {
    className: "outcome",
    role: "status",
    "data-testid": "share-status",
  });
  const action = (
    id: string,
    label: string,
    does: () => Promise<string> | string,
  ) => {
    const show = async () => {
      try {
        output.textContent = await does();
      } catch (error) {
        output.textContent = `That failed: ${messageOf(error)}`;
      }
    };
    return makeButton(id, show, label);
  };
  const copied = async (what: string, text: string) =>
    (await copy(text))
      ? `${what} copied.`
      : `This browser does not allow copying. ${what}: ${text}`;
  const buttons = [
    action("copy-link", "Copy the link", () => copied("Link", address())),
    action("copy-fen", "Copy the FEN", () => copied("FEN", node.fen)),
    action("copy-pgn", "Copy the PGN", () => copied("PGN", toPgn(game))),
    action(
      "download-pgn",
      "Download the PGN",
      () => (download(fileName(game), toPgn(game)), "Downloaded."),
    ),
    action(
      "download-annotated",
      "Download with evaluations",
      async () => (
        download(
          fileName(game).replace(/\.pgn$/, "-annotated.pgn"),
          await annotated(toPgn(game)),
        ),
        "Downloaded."
      ),
    ),
  ];
  if ("share" in navigator)
    buttons.unshift(
      action("share-link", "Share the link…", () =>
        navigator.share({ title: document.title, url: address() }).then(
          () => "Shared.",
          () => "",
        ),
      ),
    );
  showDialog("share", "Share", [make("div", "choices", ...buttons), output]);
}
