/** Short forms of the names in PGN headers. */

/** Returns Kasparov, Aronian and Morphy for "Kasparov, Gary", "Aronian,L" and "Paul Morphy". */
export function surname(name: string): string {
  const before = name.split(",")[0]?.trim() ?? "";
  if (name.includes(",")) return before.replace(/^Von /, "") || "?";
  // Old databases mark computers with "Comp". The rest is the complete name.
  if (before.startsWith("Comp ")) return before.slice(5);
  return before.split(/\s+/).at(-1) || "?";
}

/** Returns the year of a PGN date; empty if unknown. */
export const year = (date: string | undefined): string => /^\d{4}/.exec(date ?? "")?.[0] ?? "";

/** Returns "Morphy – Isouard, 1858"; empty if both names are unknown. */
export function players(headers: ReadonlyMap<string, string>): string {
  const [white, black] = [headers.get("White"), headers.get("Black")];
  if (!white && !black) return "";
  const when = year(headers.get("Date"));
  return `${surname(white ?? "?")} – ${surname(black ?? "?")}${when && `, ${when}`}`;
}

/** Returns a name for links: "morphy-isouard-1858". */
export function slug(headers: ReadonlyMap<string, string>): string {
  return [surname(headers.get("White") ?? ""), surname(headers.get("Black") ?? ""), year(headers.get("Date"))]
    .join("-")
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, "");
}
