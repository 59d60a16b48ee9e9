// How long a step takes on the board: script, style and layout of one key press, in games of 40 and of 300 moves.
// node tests/browser/bench-board.mjs (after `cargo xtask demo --no-serve` and `cargo xtask npm`)
import { lab } from "./support/lab.mjs";
import { longGame } from "./support/long.mjs";

const shelf = await lab();
try {
  for (const [width, height] of [[360, 740], [1920, 1080]]) {
    for (const moves of [40, 300]) {
      const context = await shelf.browser.newContext({ viewport: { width: Number(width), height: Number(height) } });
      const page = await context.newPage();
      await page.goto(`${shelf.server.url}site/`);
      await page.getByTestId("open").click();
      await page.getByTestId("open-text").fill(longGame(Number(moves)));
      await page.getByTestId("open-submit").click();
      await page.waitForFunction(() => /^\d+ of \d+ positions/.test(document.querySelector("#coverage")?.textContent ?? ""));
      const times = await page.evaluate(async () => {
        const times = [];
        const steps = document.querySelectorAll("[data-testid=move]").length;
        for (let step = 0; step < steps; step++) {
          await new Promise((done) => requestAnimationFrame(done));
          const start = performance.now();
          document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
          document.body.getBoundingClientRect();
          times.push(performance.now() - start);
        }
        return times.sort((a, b) => a - b);
      });
      const at = (/** @type {number} */ share) => (times[Math.floor((times.length - 1) * share)] ?? 0).toFixed(1);
      console.log(`${width} × ${height}, ${moves} moves: median ${at(0.5)} ms, 95 % ${at(0.95)} ms, longest ${at(1)} ms of ${times.length} steps`);
      await context.close();
    }
  }
} finally {
  await shelf.close();
}
