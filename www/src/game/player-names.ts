/** Short forms of the names in PGN headers. */

/**
 * Returns Kasparov, Aronian and Shelfish for "Kasparov, Gary", "Aronian,L" and "Shelfish (Club player, 1600)". A name without a comma is returned
 * whole: nothing says whether the family name is its first or its last word ("Bu Xiangzhi", "Magnus Carlsen").
 */
export function surname(name: string): string {
  // Brackets at the end contain a level, a country or a rating.
  const person = name.replace(/\s*\([^()]*\)\s*$/, "").trim() || name.trim();
  const [family = "", ...given] = person.split(",");
  if (given.length > 0) return family.trim().replace(/^Von /, "") || "?";
  // Old databases mark computers with "Comp". The rest is the complete name.
  return person.replace(/^Comp /, "") || "?";
}

/** Returns the year of a PGN date; empty if unknown. */
const year = (date: string | undefined): string =>
  /^\d{4}/.exec(date ?? "")?.[0] ?? "";

/** Returns "Morphy – Isouard, 1858"; empty if both names are unknown. */
export function players(headers: ReadonlyMap<string, string>): string {
  return pairing(
    headers.get("White"),
    headers.get("Black"),
    headers.get("Date"),
  );
}

/** Returns the same for two names and a date. */
export function pairing(
  white: string | undefined,
  black: string | undefined,
  date: string | undefined,
): string {
  if (!white && !black) return "";
  const when = year(date);
  return `${surname(white || "?")} – ${surname(black || "?")}${when && `, ${when}`}`;
}

/** Returns a name for links and files: "morphy-isouard-1858". */
export function slug(headers: ReadonlyMap<string, string>): string {
  return [
    surname(headers.get("White") ?? ""),
    surname(headers.get("Black") ?? ""),
    year(headers.get("Date")),
  ]
    .join("-")
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\s+/g, "-")
    .replace(/[^a-z0-9-]/g, "")
    .replace(/-{2,}/g, "-");
}
