/** The address bar. A step replaces the address; opening a game adds an entry for the back button. */
import { readObject, removeItem, writeString } from "../storage/local-storage";

/** Name of the last link in local storage. */
const UNSAVED_LINK = "unsaved-link";

let timer = 0;
/** Address that is to be written. Browsers refuse addresses that change too often. */
let due: string | undefined;
/** Fragment before the last change of the address. */
let before: string | undefined;

/** Writes the fragment (without "#") after a short delay; with `push`, immediately and as a new history entry. */
export function writeAddress(fragment: string, push = false): void {
  const url = fragment ? `#${fragment}` : location.pathname + location.search;
  if (push) {
    flush();
    history.pushState(null, "", url);
  } else {
    due = url;
    window.clearTimeout(timer);
    timer = window.setTimeout(flush, 150);
  }
}

/**
 * Stores a link that the address cannot contain, because the address of a page that ends is not changed any more. A reload that
 * began before the last change of the address loads the address before it.
 */
export const keepLink = (fragment: string): void =>
  void writeString(
    UNSAVED_LINK,
    JSON.stringify({ from: [location.hash.slice(1), before], fragment }),
  );

/** Returns the link that was stored at this address, if there is one. */
export function keptLink(): string | undefined {
  const { from, fragment } = readObject(UNSAVED_LINK);
  return typeof fragment === "string" &&
    Array.isArray(from) &&
    from.includes(location.hash.slice(1))
    ? fragment
    : undefined;
}

export const forgetLink = (): void => removeItem(UNSAVED_LINK);

/** Calls `restore` with the fragment, now and after each navigation or change of the address. */
export function followAddress(restore: (fragment: string) => void): void {
  followNavigation(restore);
  restore(location.hash.slice(1));
}

/** Calls `restore` with the fragment after each navigation or change of the address. */
export function followNavigation(restore: (fragment: string) => void): void {
  window.addEventListener("pagehide", flush);
  window.addEventListener("popstate", () => {
    window.clearTimeout(timer);
    due = undefined;
    restore(location.hash.slice(1));
  });
}

function flush(): void {
  window.clearTimeout(timer);
  if (due !== undefined) {
    before = location.hash.slice(1);
    history.replaceState(null, "", due);
  }
  due = undefined;
}
