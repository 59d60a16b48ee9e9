// Scores in words, as databases have them.

/** "+0.36", "-1.20", "0.00", "#3", "#-5": White's point of view. */
export function written({ cp = 0, mate }: { cp?: number | undefined; mate?: number | undefined }): string {
  if (mate !== undefined) return `#${mate}`;
  return `${cp > 0 ? "+" : cp < 0 ? "-" : ""}${(Math.abs(cp) / 100).toFixed(2)}`;
}
