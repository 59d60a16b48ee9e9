/** The dialog that copies or downloads the link, the position or the game. */
import { players } from "../game/identity";
import { deflate } from "../text/deflate";
import { make, makeButton } from "../shell/dom";
import { copied, showDialog } from "../shell/dialog";
import { packReport } from "../link/report-link";
import { download, fileName, toPgn } from "../game/write-pgn";
import type { State } from "../state/state";
import { messageOf } from "../text/words";

/** Shows the dialog. `address` returns the link to the position; `annotated` adds the page's evaluations to a PGN. */
export async function showShare(
  state: State,
  address: () => string,
  annotated: (pgn: string) => Promise<string>,
): Promise<void> {
  const { game, node, assessment } = state;
  // Safari copies only texts that are there when the button is pressed.
  const packed =
    assessment?.report.settled === true
      ? await packReport(assessment, game.mainline())
      : "";
  const report = packed && `report=${packed}`;
  const link = () => [address(), report].filter(Boolean).join("&");
  const embedded = async () => {
    const pgn = `pgnz=${await deflate(await annotated(toPgn(game)))}`;
    const ply = game.mainline().includes(node) ? node.ply : 0;
    const fragment = [pgn, `ply=${ply}`, report].filter(Boolean).join("&");
    const frame = make("iframe", {
      src: new URL(`embed.html#${fragment}`, location.href).href,
      title: players(game.headers) || "A chess game",
      width: "760",
      height: "512",
    });
    frame.style.cssText = "max-width: 100%; border: 0";
    return frame.outerHTML;
  };
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
  const buttons = [
    action("copy-link", "Copy the link", () => copied("Link", link())),
    action("copy-embed", "Copy the HTML to embed", async () =>
      copied("HTML", await embedded()),
    ),
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
        navigator.share({ title: document.title, url: link() }).then(
          () => "Shared.",
          () => "",
        ),
      ),
    );
  const what = make(
    "p",
    "quiet",
    report
      ? "The link shows the game with this report."
      : "The link shows the game, with its report once that is complete.",
  );
  showDialog("share", "Share", [
    what,
    make("div", "choices", ...buttons),
    output,
  ]);
}
