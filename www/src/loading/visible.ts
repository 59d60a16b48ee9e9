/** Calls `change` whenever `element` becomes visible in the window or is not visible any more. */
export function whenVisible(
  element: Element,
  change: (isVisible: boolean) => void,
): void {
  new IntersectionObserver((entries) =>
    change(entries.some(({ isIntersecting }) => isIntersecting)),
  ).observe(element);
}
