/** A number on rolling wheels. */
import { make } from "../shell/dom";

const FIGURES = "0123456789".split("");

/** Shows a number. Wheels that exist roll to their new digit. */
export function roll(root: HTMLElement, value: number): void {
  const text = String(value);
  while (root.childElementCount < text.length) root.prepend(wheel());
  while (root.childElementCount > text.length) root.firstElementChild?.remove();
  root.setAttribute(
    "aria-label",
    `${value.toLocaleString("en")} ${value === 1 ? "game" : "games"}`,
  );
  [...text].forEach((figure, at) => {
    const strip = root.children[at]?.firstElementChild as HTMLElement;
    // A new wheel needs a layout before it can roll.
    strip.getBoundingClientRect();
    strip.style.transform = `translateY(${-10 * Number(figure)}%)`;
  });
}

const wheel = (): HTMLElement =>
  make(
    "span",
    { className: "wheel" },
    make(
      "span",
      { className: "strip" },
      ...FIGURES.map((figure) => make("span", {}, figure)),
    ),
  );
