// Measures the analysis of a game on the board: milliseconds from the paste to the first graph, to the graph without gaps, and to the
// settled report.
// node tests/browser/bench-report.mjs GAME.pgn (after `cargo xtask site`)
import { readFileSync } from "node:fs";
import { lab } from "./support/lab.mjs";

const [path] = process.argv.slice(2);
if (!path) throw new Error("expected the path of a PGN");
const pgn = readFileSync(path, "utf8");
const shelf = await lab();
try {
  const page = await (
    await shelf.browser.newContext({ viewport: { width: 1350, height: 940 } })
  ).newPage();
  await page.goto(`${shelf.server.url}site/`);
  await page.waitForFunction(() =>
    /^Depth/.test(document.querySelector("#facts")?.textContent ?? ""),
  );
  await page.evaluate(() => {
    /** @type {Record<string, number>} */
    const times = {};
    Object.assign(globalThis, { times });
    let begin = 0;
    const note = (/** @type {string} */ name, /** @type {boolean} */ holds) =>
      holds && (times[name] ??= Math.round(performance.now() - begin));
    document
      .querySelector("[data-testid=open-submit]")
      ?.addEventListener("click", () => (begin = performance.now()), true);
    addEventListener("submit", () => (begin = performance.now()), true);
    new MutationObserver(() => {
      if (document.querySelectorAll("[data-testid=move]").length < 20) return;
      if (!begin) begin = performance.now();
      const words =
        document.querySelector("[data-testid=filling]")?.textContent ?? "";
      const gaps = document.querySelectorAll("#graph .gap").length;
      note(
        "first graph",
        (document.querySelector("#graph .area")?.getAttribute("d") ?? "")
          .length +
          (
            document
              .querySelector("#graph .area.borrowed")
              ?.getAttribute("d") ?? ""
          ).length >
          200,
      );
      note("no gaps", gaps === 0 && /Pass/.test(words));
      for (const pass of [2, 3, 4])
        note(`pass ${pass} begins`, words.includes(`Pass ${pass} of`));
      note("settled", /Complete/.test(words));
    }).observe(document.body, {
      subtree: true,
      childList: true,
      attributes: true,
      characterData: true,
    });
  });
  await page.getByTestId("open").click();
  await page.getByTestId("open-text").fill(pgn);
  await page.getByTestId("open-submit").click();
  await page.waitForFunction(
    () => /** @type {any} */ (globalThis).times.settled,
    undefined,
    { timeout: 900_000 },
  );
  console.log(
    await page.evaluate(() => [
      navigator.hardwareConcurrency,
      /** @type {any} */ (globalThis).times,
      document.querySelector("#report")?.textContent,
    ]),
  );
} finally {
  await shelf.close();
}
