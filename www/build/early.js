{
  try {
    const { theme } = localStorage;
    if (theme) document.documentElement.dataset.theme = theme;
  } catch {}
  const query = new URLSearchParams(location.search);
  const manifests = {
    db: query.get("db") ?? DATABASE,
    book: query.get("book") ?? "book/manifest.json",
  };
  globalThis.early = {};
  for (const name of READ) {
    if (!URL.canParse(manifests[name], location.href)) continue;
    const { href } = new URL(manifests[name], location.href);
    const response = fetch(href, { cache: "no-cache" });
    response.catch(() => {});
    globalThis.early[href] = response;
  }
  if (location.hash.length > 1) {
    document.documentElement.dataset.game = "";
    for (const href of LINKED) {
      const kind = href.endsWith(".css")
        ? { rel: "preload", as: "style", crossOrigin: "" }
        : { rel: "modulepreload" };
      document.head.append(
        Object.assign(document.createElement("link"), kind, {
          fetchPriority: "low",
          href,
        }),
      );
    }
  }
}
