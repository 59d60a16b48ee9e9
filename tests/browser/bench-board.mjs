// Measures a step on the board: script, style and layout of one key press, in games of 40 and of 300 moves. The first measurement
// is during the engine's analysis of the game, the second after it.
// node tests/browser/bench-board.mjs (after `cargo xtask demo --no-serve` and `cargo xtask npm`)
import { lab } from "./support/lab.mjs";
import { longGame } from "./support/long.mjs";

/** Steps through the game. Returns the duration of the steps. */
async function steps(/** @type {import("playwright-core").Page} */ page) {
  const times = await page.evaluate(async () => {
    const times = [];
    const steps = document.querySelectorAll("[data-testid=move]").length;
    for (let step = 0; step < steps; step++) {
      await new Promise((done) => requestAnimationFrame(done));
      const start = performance.now();
      document.dispatchEvent(
        new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }),
      );
      document.body.getBoundingClientRect();
      times.push(performance.now() - start);
    }
    return times.sort((a, b) => a - b);
  });
  const at = (/** @type {number} */ share) =>
    (times[Math.floor((times.length - 1) * share)] ?? 0).toFixed(1);
  return `median ${at(0.5)} ms, 95 % ${at(0.95)} ms, longest ${at(1)} ms of ${times.length} steps`;
}

const shelf = await lab();
try {
  for (const [width, height] of [
    [360, 740],
    [1920, 1080],
  ]) {
    for (const moves of [40, 300]) {
      const context = await shelf.browser.newContext({
        viewport: { width: Number(width), height: Number(height) },
      });
      const page = await context.newPage();
      await page.goto(`${shelf.server.url}site/`);
      await page.getByTestId("open").click();
      await page.getByTestId("open-text").fill(longGame(Number(moves)));
      await page.getByTestId("open-submit").click();
      await page.waitForFunction(() =>
        /^\d+ of \d+ positions/.test(
          document.querySelector("#coverage")?.textContent ?? "",
        ),
      );
      const size = `${width} × ${height}, ${moves} moves`;
      console.log(`${size}, while the engine works: ${await steps(page)}`);
      await page.waitForFunction(
        () =>
          document.querySelector("#report table") &&
          /Complete/.test(
            document.querySelector("[data-testid=filling]")?.textContent ?? "",
          ),
        undefined,
        { timeout: 300_000 },
      );
      await page.keyboard.press("Home");
      console.log(`${size}, analysed: ${await steps(page)}`);
      await context.close();
    }
  }
} finally {
  await shelf.close();
}
