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

/** Whether the person asked for less motion. */
export const calm = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Whether keys and pasted text belong to this element. */
export const isField = (target: EventTarget | null): boolean => target instanceof HTMLElement && target.matches("input, textarea, [contenteditable]");
