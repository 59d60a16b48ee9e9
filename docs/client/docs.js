// The theme, the search, the contents on wide screens, and buttons that copy code.

const byId = (/** @type {string} */ id) =>
  /** @type {HTMLElement} */ (document.getElementById(id));

// The theme: the system's, until the reader presses the button. The board stores its choice under the same name.
const theme = byId("theme");
const system = matchMedia("(prefers-color-scheme: dark)");
const isDark = () =>
  (document.documentElement.dataset["theme"] ??
    (system.matches ? "dark" : "light")) === "dark";
const label = () => {
  const text = isDark() ? "Light theme" : "Dark theme";
  theme.title = text;
  theme.querySelector("span")?.replaceChildren(text);
};
theme.hidden = false;
theme.addEventListener("click", () => {
  document.documentElement.dataset["theme"] = isDark() ? "light" : "dark";
  try {
    localStorage.setItem(
      "theme",
      document.documentElement.dataset["theme"] ?? "",
    );
  } catch {
    // If storage is forbidden, the choice ends with the page.
  }
  label();
});
system.addEventListener("change", label);
label();

// The contents: open next to the text, closed above it.
const contents = /** @type {HTMLDetailsElement | null} */ (
  document.getElementById("contents")
);
const wide = matchMedia("(min-width: 1240px)");
const place = () => {
  if (contents) contents.open = wide.matches;
};
wide.addEventListener("change", place);
place();

// The menu shows the current page in its middle.
const menu = byId("menu");
const current = /** @type {HTMLElement | null} */ (
  menu.querySelector("[aria-current]")
);
if (current) menu.scrollTop = current.offsetTop - menu.clientHeight / 2;

// A table that is wider than its column scrolls, and is a stop for the keyboard.
const fit = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) {
      target.setAttribute("tabindex", "0");
      target.setAttribute("role", "region");
    } else {
      target.removeAttribute("tabindex");
      target.removeAttribute("role");
    }
  }
});
for (const [n, table] of document.querySelectorAll(".wide").entries()) {
  table.setAttribute("aria-label", `Table ${n + 1}`);
  fit.observe(table);
}

for (const pre of document.querySelectorAll("pre")) {
  const box = document.createElement("div");
  box.className = "code";
  const copy = document.createElement("button");
  copy.type = "button";
  copy.className = "copy";
  copy.textContent = "Copy";
  pre.replaceWith(box);
  box.append(pre, copy);
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(pre.textContent ?? "");
      copy.textContent = "Copied";
    } catch {
      copy.textContent = "Not allowed";
    }
  });
}

// The search.

/**
 * @typedef {{ url: string, title: string, excerpt: string, weighted_locations: { balanced_score: number }[] }} Part
 * @typedef {{ data: () => Promise<{ url: string, meta: { title: string }, excerpt: string, sub_results: Part[] }> }} Result
 * @typedef {{ init: () => Promise<void>, debouncedSearch: (query: string) => Promise<{ results: Result[] } | null> }} Pagefind
 */

// Identifiers of headings have no underscore.
const [open, dialog, query, found, results] = [
  byId("search"),
  /** @type {HTMLDialogElement} */ (byId("search-dialog")),
  /** @type {HTMLInputElement} */ (byId("search_query")),
  byId("search_found"),
  byId("search_results"),
];
/** Pages that a search shows. */
const SHOWN = 12;

/** @type {Promise<Pagefind> | undefined} */
let loading;
/** @returns {Promise<Pagefind>} */
const pagefind = () =>
  (loading ??= import(
    new URL("../pagefind/pagefind.js", import.meta.url).href
  ).catch((error) => {
    loading = undefined;
    throw error;
  }));

/** Returns how well a part of a page fits the words. */
const scoreOf = (/** @type {Part} */ { weighted_locations }) =>
  weighted_locations.reduce(
    (sum, { balanced_score }) => sum + balanced_score,
    0,
  );

/** Returns 1 if the heading of a part contains all words, and 0 otherwise. */
function isNamed(
  /** @type {Part | undefined} */ part,
  /** @type {string} */ words,
) {
  const heading = part?.title.toLowerCase() ?? "";
  return Number(
    words
      .toLowerCase()
      .split(/\s+/)
      .every((word) => heading.includes(word)),
  );
}

/** Returns an excerpt with its marks. */
function excerptOf(/** @type {string} */ html) {
  const text = document.createElement("p");
  for (const node of new DOMParser().parseFromString(html, "text/html").body
    .childNodes) {
    const marked =
      node.nodeName === "MARK" ? document.createElement("mark") : undefined;
    marked?.append(node.textContent ?? "");
    text.append(marked ?? node.textContent ?? "");
  }
  return text;
}

async function search() {
  const words = query.value.trim();
  if (words === "") {
    found.textContent = "";
    results.replaceChildren();
    return;
  }
  try {
    const answer = await (await pagefind()).debouncedSearch(words);
    if (!answer || query.value.trim() !== words) return;
    const pages = await Promise.all(
      answer.results.slice(0, SHOWN).map((result) => result.data()),
    );
    if (query.value.trim() !== words) return;
    // Headings with all words come first, because a long text contains each word more often than a short text.
    const parts = pages.map((page) => {
      const [part] = [...page.sub_results].sort(
        (a, b) =>
          isNamed(b, words) - isNamed(a, words) || scoreOf(b) - scoreOf(a),
      );
      return { page, part };
    });
    parts.sort((a, b) => isNamed(b.part, words) - isNamed(a.part, words));
    results.replaceChildren(
      ...parts.map(({ page, part }) => {
        const link = document.createElement("a");
        link.href = part?.url ?? page.url;
        const name = document.createElement("strong");
        name.textContent =
          part && part.title !== page.meta.title
            ? `${page.meta.title}: ${part.title}`
            : page.meta.title;
        link.append(name, excerptOf(part?.excerpt ?? page.excerpt));
        const item = document.createElement("li");
        item.append(link);
        return item;
      }),
    );
    const count = answer.results.length;
    found.textContent =
      count === 0
        ? `No page contains “${words}”.`
        : `${count} ${count === 1 ? "page" : "pages"}${count > SHOWN ? `, the best ${SHOWN} shown` : ""}`;
  } catch (error) {
    found.textContent = `The search could not be loaded: ${error instanceof Error ? error.message : error}`;
  }
}

const show = () => {
  dialog.showModal();
  query.select();
  // Errors are shown when the reader types.
  pagefind()
    .then((module) => module.init())
    .catch(() => {});
};
open.hidden = false;
open.addEventListener("click", show);
query.addEventListener("input", search);
byId("close-search").addEventListener("click", () => dialog.close());
dialog.addEventListener(
  "click",
  ({ target }) => target === dialog && dialog.close(),
);
// A result on the same page only moves the text.
results.addEventListener("click", () => dialog.close());
addEventListener("keydown", (event) => {
  const isTyping =
    event.target instanceof HTMLElement &&
    event.target.matches("input, textarea, select");
  const isSearch =
    (event.key === "/" &&
      !isTyping &&
      !event.ctrlKey &&
      !event.metaKey &&
      !event.altKey) ||
    (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey));
  if (!isSearch || dialog.open) return;
  event.preventDefault();
  show();
});
dialog.addEventListener("keydown", (event) => {
  // Otherwise the first Escape only empties the field.
  if (event.key === "Escape") {
    event.preventDefault();
    dialog.close();
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const stops = [query, ...results.querySelectorAll("a")];
  const next =
    stops[
      stops.indexOf(
        /** @type {HTMLElement & HTMLInputElement & HTMLAnchorElement} */ (
          document.activeElement
        ),
      ) + step
    ];
  if (!next) return;
  event.preventDefault();
  next.focus();
});
