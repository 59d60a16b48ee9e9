/** The status line of a page that looks up a book: messages, slow lookups and errors. */
import { followLinks } from "../link/link";
import { byId, make, makeButton } from "../shell/dom";
import type { State } from "../state/state";
import { explain } from "./client";

/** Milliseconds before a lookup is shown as slow. */
const SLOW = 400;

export class StatusLine {
  readonly #line = byId("status");
  /** The error of the address, shown until the position changes. */
  #linkError = "";

  /** `panel` is busy until the first answer. */
  constructor(
    private readonly state: State,
    private readonly panel = byId("panel"),
  ) {
    state.on(({ node }) => node && (this.#linkError = ""));
  }

  /** Shows the positions of the address bar. */
  followLinks(): void {
    followLinks(this.state, (message) => {
      this.#linkError = message;
      this.show("");
    });
  }

  show(text: string): void {
    this.#line.textContent = [this.#linkError, text].filter(Boolean).join(" ");
  }

  /** Waits for a lookup, and shows that it is slow. */
  async waitFor<T>(lookup: Promise<T>): Promise<T> {
    const timer = window.setTimeout(() => this.show("Looking it up…"), SLOW);
    try {
      return await lookup;
    } finally {
      window.clearTimeout(timer);
    }
  }

  /** Says that the first answer is shown. */
  ready(): void {
    this.panel.ariaBusy = "false";
  }

  /** Shows why a lookup failed, with a button to try again. */
  showError(error: unknown, retry: () => void): void {
    const { title, advice } = explain(error);
    this.ready();
    this.#line.replaceChildren(
      this.#linkError && `${this.#linkError} `,
      make("strong", {}, title),
      ` ${advice} `,
      makeButton("retry", retry, "Try again"),
    );
  }
}
