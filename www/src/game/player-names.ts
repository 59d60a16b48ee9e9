/** Names of players as they stand in PGN headers, made short. */

/** "Kasparov, Gary", "Aronian,L" and "Paul Morphy" give Kasparov, Aronian and Morphy. */
export function surname(name: string): string {
  const before = name.split(",")[0]?.trim() ?? "";
  if (name.includes(",")) return before.replace(/^Von /, "") || "?";
  // Old databases mark computers so; the rest is the machine's whole name.
  if (before.startsWith("Comp ")) return before.slice(5);
  return before.split(/\s+/).at(-1) || "?";
}

/** The year of a PGN date; empty if unknown. */
export const year = (date: string | undefined): string => /^\d{4}/.exec(date ?? "")?.[0] ?? "";

/** "Morphy – Isouard, 1858"; empty if nobody is named. */
export function players(headers: ReadonlyMap<string, string>): string {
  const [white, black] = [headers.get("White"), headers.get("Black")];
  if (!white && !black) return "";
  const when = year(headers.get("Date"));
  return `${surname(white ?? "?")} – ${surname(black ?? "?")}${when && `, ${when}`}`;
}

/** A name for links: "morphy-isouard-1858". */
export function slug(headers: ReadonlyMap<string, string>): string {
  return [surname(headers.get("White") ?? ""), surname(headers.get("Black") ?? ""), year(headers.get("Date"))]
    .join("-")
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, "");
}
