// The base of the elements: a shadow root with a style, and a lookup when an element is visible and when an attribute changes.

import { urlText } from "../shared/options.js";
import { make } from "./dom.js";
import { COMMON_STYLE } from "./style.js";

/** Node has no elements, but may render pages. */
export const Base = (globalThis.HTMLElement ?? class {}) as typeof HTMLElement;

const sheets = new Map<string, CSSStyleSheet>();

function sheetOf(style: string): CSSStyleSheet {
  let sheet = sheets.get(style);
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    sheets.set(style, sheet);
  }
  return sheet;
}

/** Adds a shadow root with the common style and the style of the element. */
export function shadow(element: HTMLElement, style: string): ShadowRoot {
  const root = element.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [sheetOf(COMMON_STYLE), sheetOf(style)];
  return root;
}

/** Calls a function once, when the element is near the visible part of the page. Returns a function that ends the wait. */
export function whenVisible(
  element: HTMLElement,
  then: () => void,
): () => void {
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      then();
    },
    { rootMargin: "200px" },
  );
  observer.observe(element);
  return () => observer.disconnect();
}

/** An element that looks up positions. Its events are typed. */
export abstract class LookupElement<Events = unknown> extends Base {
  readonly #error = make("p", {
    class: "error",
    part: "error",
    role: "alert",
    hidden: "",
  });
  readonly #status = make("p", { class: "said", role: "status" });
  #isBuilt = false;
  #isVisible = false;
  #isScheduled = false;
  #loading = new AbortController();
  #disconnect = () => {};

  /** The position. */
  get fen(): string {
    return this.getAttribute("fen") ?? "";
  }

  set fen(fen: string) {
    this.setAttribute("fen", fen);
  }

  /** @internal */
  connectedCallback(): void {
    if (!this.#isBuilt) {
      this.build().append(this.#error);
      this.shadowRoot!.append(this.#status);
    }
    this.#isBuilt = true;
    this.#isVisible = false;
    this.#disconnect = whenVisible(this, () => {
      this.#isVisible = true;
      this.look();
    });
  }

  /** @internal */
  disconnectedCallback(): void {
    this.#disconnect();
    this.#isVisible = false;
    this.#loading.abort();
  }

  /** @internal */
  attributeChangedCallback(
    name: string,
    before: string | null,
    after: string | null,
  ): void {
    if (before === after || !this.#isBuilt) return;
    if (this.changed(name) && this.#isVisible) this.look();
  }

  /** Looks up the position again. Changes of several attributes together cause a single lookup. */
  protected look(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(async () => {
      this.#isScheduled = false;
      if (!this.#isVisible) return;
      this.#loading.abort();
      this.#loading = new AbortController();
      const { signal } = this.#loading;
      try {
        this.#error.hidden = true;
        await this.load(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.clear();
        this.fail((error as Error).message);
      }
    });
  }

  /** Shows and reports an error. */
  protected fail(message: string): void {
    this.#error.textContent = message;
    this.#error.hidden = false;
    this.dispatchEvent(new CustomEvent("error", { detail: message }));
  }

  /** Announces a text to screen readers. */
  protected announce(text: string): void {
    this.#status.textContent = text;
  }

  /** Returns the URL of an attribute, relative to the page; `undefined` without the attribute. */
  protected url(name: string): string | undefined {
    const value = this.getAttribute(name);
    if (value === null) return undefined;
    return new URL(urlText(`attribute ${name}`, value), this.baseURI).href;
  }

  /** Makes the content. Returns the parent of the messages. */
  protected abstract build(): Node & ParentNode;

  /** Is called when an attribute changes. Returns whether a lookup is needed. */
  protected changed(_name: string): boolean {
    return true;
  }

  /** Looks up the position and shows the answer, unless the signal is aborted. */
  protected abstract load(signal: AbortSignal): Promise<void>;

  /** Removes the last answer. */
  protected abstract clear(): void;
}

export interface LookupElement<Events> {
  addEventListener<K extends string & keyof Events>(
    type: K,
    listener: (this: this, event: Events[K]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
}
