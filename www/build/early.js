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
    const link = document.createElement("link");
    link.rel = "preload";
    link.as = "fetch";
    link.crossOrigin = "anonymous";
    link.href = manifest;
    document.head.append(link);
  }
}
