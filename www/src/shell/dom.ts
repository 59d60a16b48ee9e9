/** Helpers for the DOM and for JSON in local storage, which browsers may forbid. */

/** Returns the element with this id. The page must contain it. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`index.html has no #${id}`);
  return element as T;
}

/** Creates an element with properties, attributes (names with a dash, and role) and children. A text instead of the properties is the class name. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties:
    string | Record<string, string | number | boolean | undefined> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (tag === "button") element.setAttribute("type", "button");
  if (typeof properties === "string") element.className = properties;
  else
    for (const [name, value] of Object.entries(properties)) {
      if (value === undefined) continue;
      if (name.includes("-") || name === "role")
        element.setAttribute(name, String(value));
      else Object.assign(element, { [name]: value });
    }
  element.append(...children);
  return element;
}

/** Creates a button that calls `does`. `properties` are those of `make`; a text is the test id. */
export function makeButton(
  properties: string | Parameters<typeof make>[1],
  does: () => unknown,
  ...children: (Node | string)[]
): HTMLButtonElement {
  const button = make(
    "button",
    typeof properties === "string" ? { "data-testid": properties } : properties,
    ...children,
  );
  button.addEventListener("click", () => does());
  return button;
}

/** Shows the error of a field, or removes it if the message is empty. */
export function showFieldError(
  field: HTMLElement,
  output: HTMLElement,
  message: string,
): void {
  output.textContent = message;
  if (message) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
}

/** Disables or enables a button. If a disabled button had the focus, `other` gets it. */
export function disable(
  button: HTMLElement,
  isDisabled: boolean,
  other: HTMLElement,
): void {
  const hasFocus = document.activeElement === button;
  (button as HTMLButtonElement).disabled = isDisabled;
  if (hasFocus && isDisabled) other.focus({ preventScroll: true });
}

/**
 * Replaces the children of an element. If a button had the focus, the button with the same number in the same row (`li` or `tr`) gets the focus. If
 * the row has fewer buttons, its last button gets the focus.
 */
export function redraw(
  root: HTMLElement,
  ...children: (Node | string)[]
): void {
  const focused = document.activeElement as HTMLButtonElement;
  const rows = rowsOf(root);
  const row = rows.findIndex((buttons) => buttons.includes(focused));
  root.replaceChildren(...children);
  if (row < 0) return;
  const redrawn = rowsOf(root);
  const buttons = redrawn[row] ?? redrawn.at(-1) ?? [];
  (buttons[rows[row]?.indexOf(focused) ?? 0] ?? buttons.at(-1))?.focus({
    preventScroll: true,
  });
}

/** Returns the enabled buttons of each row. Buttons outside of rows form a row. */
function rowsOf(root: HTMLElement): HTMLButtonElement[][] {
  const rows = new Map<Element | null, HTMLButtonElement[]>();
  for (const button of root.querySelectorAll<HTMLButtonElement>(
    "button:enabled",
  )) {
    const row = button.closest("li, tr");
    rows.set(row, [...(rows.get(row) ?? []), button]);
  }
  return [...rows.values()];
}

/** Whether the user prefers reduced motion. */
export const calm = (): boolean =>
  matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Whether the element handles keys and pasted text itself. */
export const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  target.matches("input, textarea, [contenteditable]");

/** Copies a text to the clipboard. Returns false if the browser does not allow it. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns a stored object; an empty object if the object is missing or cannot be read. */
export function readObject(key: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? "{}");
    return typeof value === "object" && value !== null
      ? (value as Record<string, unknown>)
      : {};
  } catch {
    return {};
  }
}

/** Stores a string. Returns false if storage is forbidden or full. */
export function writeString(key: string, value: string): boolean {
  try {
    localStorage.setItem(key, value);
    return true;
  } catch {
    return false;
  }
}
