// Runs before the first paint, so that what was chosen does not flash.
try {
  const { theme, settings } = localStorage;
  const { board, pieces } = JSON.parse(settings ?? "{}");
  Object.assign(document.documentElement.dataset, theme && { theme }, board && { board }, pieces && { pieces });
} catch {
  // Storage may be forbidden; what is usual serves.
}
