/** The address bar. A step replaces the address; opening a game adds an entry for the back button. */

let timer = 0;
/** Address that is to be written. Browsers refuse addresses that change too often. */
let due: string | undefined;

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
  if (due !== undefined) history.replaceState(null, "", due);
  due = undefined;
}
