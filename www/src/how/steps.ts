/** The steps of a lookup, each with its bytes. */
import { duration, plural, size } from "../text/units";
import { make } from "../shell/dom";
import { scoreText } from "shelfish/score";
import { forest, groups } from "./block";
import { FILES, hex, type Key } from "./key";
import { coordinate, picture, svg } from "./svg";
import type { Trace } from "./trace";

/** Writes the steps of a lookup into a list. */
export function show(list: HTMLOListElement, trace: Trace): void {
  list.replaceChildren(
    step("A canonical position", canonicalStep(trace)),
    step("A key that sorts", keyStep(trace)),
    step("A page of the index", pageStep(trace)),
    step("A block of that page", blockStep(trace)),
    step("A range request", requestStep(trace)),
    step("Decompressed", frameStep(trace)),
    step("The record", recordStep(trace)),
  );
}

function step(
  title: string,
  content: (HTMLElement | SVGElement)[],
): HTMLLIElement {
  return make("li", {}, make("h3", {}, title), ...content);
}

const say = (...children: (Node | string)[]) => make("p", {}, ...children);
const code = (text: string, className = "") =>
  make("code", { className }, text);
const count = (value: number) => value.toLocaleString("en");

function canonicalStep({ given, fen }: Trace): HTMLElement[] {
  const [before, after] = [given.split(/\s+/), fen.split(" ")];
  const line = make("code", { className: "fen" });
  before.forEach((field, n) => {
    const kept = after[n];
    if (n > 0) line.append(" ");
    if (kept === field) line.append(field);
    else
      line.append(
        make("del", {}, field),
        ...(kept === undefined ? [] : [" ", make("ins", {}, kept)]),
      );
  });
  const isSame = given === fen;
  return [
    say(
      isSame
        ? "Four fields of the FEN matter: pieces, side to move, castling, en passant. This FEN needed no change."
        : "Move counters are removed, and so are rights without effect: an en-passant square on which no pawn can capture, castling without the rook.",
    ),
    line,
  ];
}

function keyStep({ key }: Trace): (HTMLElement | SVGElement)[] {
  const cells = key.parts.map(({ name, bytes }) =>
    make(
      "span",
      { className: `key-part ${name.replace(" ", "-")}` },
      make("code", {}, hex(bytes).replace(/(..)(?=.)/g, "$1 ")),
      make("small", {}, name),
    ),
  );
  return [
    say(
      `The position becomes ${plural(key.bytes.length, "byte")} that sort: first the pawns, file by file from the centre outwards, then how many pieces of each kind, then their squares.`,
    ),
    make("div", { className: "key" }, ...cells),
    pawnFiles(key),
  ];
}

/** Draws the pawns in the order of the key's eight files. */
function pawnFiles(key: Key): SVGElement {
  const bits = key.bytes
    .slice(0, 10)
    .map((byte) => byte.toString(2).padStart(8, "0"))
    .join("");
  const columns = Array.from(FILES, (file, n) => {
    let code = Number.parseInt(bits.slice(10 * n, 10 * n + 10), 2);
    const x = 46 * n;
    const squares = Array.from({ length: 6 }, (_, above) => {
      const digit = code % 3;
      code = Math.floor(code / 3);
      const y = 13 * above;
      const square = svg("rect", {
        x: x + 8,
        y: y + 1,
        width: 22,
        height: 11,
        rx: 2,
        class: "square",
      });
      return digit === 0
        ? square
        : svg(
            "g",
            {},
            square,
            svg("circle", {
              cx: x + 19,
              cy: y + 6.5,
              r: 4.2,
              class: digit === 1 ? "white-pawn" : "black-pawn",
            }),
          );
    });
    return svg(
      "g",
      {},
      ...squares,
      svg(
        "text",
        { x: x + 19, y: 94, class: "label", "text-anchor": "middle" },
        file,
      ),
    );
  });
  return picture(
    376,
    98,
    "The pawns of each file, in the order of the key",
    ...columns,
  );
}

/** Draws a row of equal cells with one highlighted cell. */
function cells(total: number, lit: number, label: string): SVGElement {
  const width = 376;
  const most = Math.min(total, 188);
  const gap = most > 94 ? 0.4 : 1;
  const each = width / most;
  const at = Math.floor((lit * most) / total);
  const path = Array.from({ length: most }, (_, n) =>
    n === at
      ? ""
      : `M${coordinate(n * each)} 6h${coordinate(each - gap)}v18h-${coordinate(each - gap)}z`,
  ).join("");
  const wide = Math.max(3, each - gap);
  const x = Math.min(width - wide, at * each);
  return picture(
    width,
    30,
    label,
    svg("path", { d: path, class: "dim" }),
    svg("rect", {
      x: coordinate(x),
      y: 1,
      width: coordinate(wide),
      height: 28,
      rx: 1.5,
      class: "lit",
    }),
  );
}

function pageStep({
  page,
  pageNumber,
  pages,
  requests,
}: Trace): (HTMLElement | SVGElement)[] {
  const request = requests.find(
    ({ start, end, url }) =>
      url.endsWith(page.file) && start <= page.start && page.end <= end,
  );
  const how = page.inline
    ? [
        "The manifest of this small database contains the pages: ",
        make("b", {}, "no request"),
        ".",
      ]
    : request
      ? [
          "The page is fetched: ",
          make(
            "b",
            {},
            `${size(page.end - page.start)} in ${duration(request.milliseconds)}`,
          ),
          ".",
        ]
      : [
          "The page is ",
          make("b", {}, "in memory"),
          " from an earlier lookup.",
        ];
  return [
    say(
      `The manifest lists ${plural(pages, "page")}, each with the first key that it may contain. This position belongs to page ${count(pageNumber + 1)}. `,
      ...how,
    ),
    ...(pages > 1
      ? [
          cells(
            pages,
            pageNumber,
            `${plural(pages, "page")}, of which number ${pageNumber + 1} is ours`,
          ),
        ]
      : []),
  ];
}

function blockStep({
  blocks,
  blockNumber,
  block,
  key,
}: Trace): (HTMLElement | SVGElement)[] {
  const next = blocks[blockNumber + 1];
  const line = make("div", { className: "between" });
  const row = (text: string, bytes: Iterable<number>, className = "") =>
    make(
      "div",
      { className },
      make("small", {}, text),
      code(hex(bytes) || "(the beginning)"),
    );
  line.append(
    row("from", block.separator),
    row(
      "our key",
      key.bytes.slice(
        0,
        Math.max(block.separator.length, next?.separator.length ?? 0) + 2,
      ),
      "ours",
    ),
  );
  line.append(next ? row("up to", next.separator) : row("up to", []));
  if (!next)
    line.lastElementChild?.replaceChildren(
      make("small", {}, "up to"),
      code("(the end of the page)"),
    );
  return [
    say(
      `The page lists ${plural(blocks.length, "block")}. Between two blocks it stores only the bytes of a key that separate them. This position belongs to block ${count(blockNumber + 1)}.`,
    ),
    cells(
      blocks.length,
      blockNumber,
      `${plural(blocks.length, "block")}, of which number ${blockNumber + 1} is ours`,
    ),
    line,
  ];
}

function requestStep({ block, requests, head }: Trace): HTMLElement[] {
  const request = requests.find(
    ({ start, end, url }) =>
      url.endsWith(block.file) && start <= block.start && block.end <= end,
  );
  const lines = request
    ? `GET ${new URL(request.url).pathname}\nRange: bytes=${request.start}-${request.end - 1}\n\n206 Partial Content\n${count(request.bytes)} bytes in ${duration(request.milliseconds)}\n`
    : `Bytes ${count(block.start)} to ${count(block.end - 1)} of ${block.file}:\nin memory since an earlier lookup, no request\n`;
  const dump = `${hex(head.subarray(0, 24)).replace(/(..)(?=.)/g, "$1 ")} …`;
  return [
    say(
      request
        ? "Any file host can answer this request: it sends a part of a file and knows nothing about chess."
        : "A similar position is often in a block that was already fetched.",
    ),
    make(
      "pre",
      { className: "http", tabIndex: 0 },
      lines,
      make("span", {}, dump),
    ),
  ];
}

function frameStep({ frame }: Trace): (HTMLElement | SVGElement)[] {
  const [links] = frame.columns;
  const positions = links?.bytes.length ?? 0;
  const roots = links?.bytes.filter((link) => link === 0).length ?? 0;
  return [
    say(
      `The checksum at the block’s end is checked first. Then ${size(frame.stored)} become ${size(frame.content)}: ${plural(positions, "position")} with their evaluations, `,
      make("b", {}, `${(frame.stored / positions).toFixed(1)} bytes each`),
      `. ${plural(roots, "position")} ${roots === 1 ? "stands" : "stand"} there in full, the others as one step from another.`,
    ),
    ...groups(frame),
    forest(frame),
    make(
      "p",
      { className: "small" },
      "Each dot is a position of the block, large where it stands in full; a line is a step, one move.",
    ),
  ];
}

function recordStep({
  answer,
  over,
  milliseconds,
  requests,
}: Trace): HTMLElement[] {
  const cost = `${duration(milliseconds)} from question to answer, ${requests.length === 0 ? "no request" : plural(requests.length, "request")}`;
  if (!answer) {
    const why = over
      ? "The game is over here, so there is nothing to evaluate."
      : "This position is not in the database. It was compared with each position of the block, piece by piece: there are no false hits.";
    return [
      say(why),
      make(
        "p",
        { className: "verdict" },
        make("strong", {}, over ? "–" : "none"),
        make("span", {}, cost),
      ),
    ];
  }
  const { best } = answer;
  const [pv] = best.pvs;
  return [
    say(
      `Positions are compared piece by piece, not by a hash. ${plural(answer.evaluations.length, "evaluation")} of this one ${answer.evaluations.length === 1 ? "is" : "are"} known; the deepest:`,
    ),
    make(
      "p",
      { className: "verdict" },
      make("strong", {}, scoreText(pv)),
      make("span", {}, `depth ${best.depth}, ${cost}`),
    ),
    make("p", { className: "line" }, pv.san.join(" ")),
  ];
}
