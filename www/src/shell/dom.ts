/** The little of a framework that this page needs. */

/** The element of index.html with this id; the page is broken without it. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`index.html has no #${id}`);
  return element as T;
}

/** A new element with properties, attributes (those with a dash, and role) and children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Record<string, string | number | boolean | undefined> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined) continue;
    if (name.includes("-") || name === "role") element.setAttribute(name, String(value));
    else Object.assign(element, { [name]: value });
  }
  element.append(...children);
  return element;
}

/** Disables a button, or enables it. The focus would be lost with a button that is disabled: it goes on to another. */
export function disable(button: HTMLElement, isDisabled: boolean, other: HTMLElement): void {
  const hasFocus = document.activeElement === button;
  (button as HTMLButtonElement).disabled = isDisabled;
  if (hasFocus && isDisabled) other.focus({ preventScroll: true });
}

/** Draws the children of an element anew. Who has the focus on a button there keeps it on the one in its place. */
export function redraw(root: HTMLElement, ...children: (Node | string)[]): void {
  const buttons = () => [...root.querySelectorAll<HTMLButtonElement>("button:enabled")];
  const at = buttons().indexOf(document.activeElement as HTMLButtonElement);
  root.replaceChildren(...children);
  if (at >= 0) (buttons()[at] ?? buttons().at(-1))?.focus({ preventScroll: true });
}

/** Whether the person asked for less motion. */
export const calm = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Whether keys and pasted text belong to this element. */
export const isField = (target: EventTarget | null): boolean => target instanceof HTMLElement && target.matches("input, textarea, [contenteditable]");
