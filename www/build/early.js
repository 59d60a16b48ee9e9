{
  let set;
  try {
    const { theme, settings } = localStorage;
    const { board, pieces, database } = JSON.parse(settings ?? "{}") ?? {};
    Object.assign(document.documentElement.dataset, theme && { theme }, board && { board }, pieces && { pieces });
    set = database;
  } catch {}
  const manifest = new URLSearchParams(location.search).get("db") ?? set ?? DATABASE;
  if (ASKS && URL.canParse(manifest, location.href)) {
    const { href } = new URL(manifest, location.href);
    const response = fetch(href, { cache: "no-cache" });
    response.catch(() => {});
    globalThis.early = { href, response };
  }
}
