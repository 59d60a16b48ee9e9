// Headers and layouts of all pages on small screens, at a zoom of 200 % and on desks: the same links everywhere, and nothing out of reach.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { lab } from "./support/lab.mjs";
import { withoutEngine } from "./support/page.mjs";
import { until } from "./support/until.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** @type {Awaited<ReturnType<typeof lab>>} */
let shelf;
before(async () => void (shelf = await lab()));
after(() => shelf.close());

const PAGES = [
  "",
  "play.html",
  "explorer.html",
  "openings.html",
  "precedent.html",
  "how.html",
  "bookmarklet.html",
  "embed.html",
];
const NAMES = [
  "Board",
  "Play",
  "Explorer",
  "My openings",
  "Precedent",
  "How it works",
  "Bookmarklet",
  "Embed",
];

/** Landscape phones, and desks of 1366 by 768 and 1920 by 1080 at a zoom of 200 %. */
const LOW = {
  "844 by 390": [844, 390, 1],
  "683 by 384 at 200 %": [683, 384, 2],
  "740 by 360": [740, 360, 1],
  "568 by 320": [568, 320, 1],
  "960 by 540 at 200 %": [960, 540, 2],
};

/** Returns the options of a browser context with a screen. */
const screen = (
  /** @type {number} */ width,
  /** @type {number} */ height,
  scale = 1,
  touch = false,
) => ({
  context: {
    viewport: { width, height },
    deviceScaleFactor: scale,
    hasTouch: touch,
  },
});

/** Returns the texts of the visible elements that are complete in the window. */
const inView = (/** @type {Page} */ page, /** @type {string} */ selector) =>
  page.$$eval(selector, (all) =>
    all.flatMap((each) => {
      const { left, top, right, bottom, width } = each.getBoundingClientRect();
      return width > 0 &&
        left >= 0 &&
        top >= 0 &&
        right <= innerWidth + 0.5 &&
        bottom <= innerHeight + 0.5
        ? [each.textContent?.trim() ?? ""]
        : [];
    }),
  );

for (const [width, height] of /** @type {const} */ ([
  [390, 844],
  [360, 640],
  [683, 384],
])) {
  test(`the menu of every page has the same links and fits the screen of ${width} by ${height}`, async (t) => {
    for (const path of PAGES) {
      const page = await shelf.page(t, {
        path: `site/${path}`,
        ...screen(width, height, 1, true),
      });
      await page.getByTestId("menu").tap();
      assert.deepEqual(
        await inView(page, "#nav a"),
        NAMES,
        `links of ${path || "the board"}`,
      );
      assert.equal(await page.locator("#nav [aria-current]").count(), 1);
      const buttons = await page.locator("#nav button").count();
      assert.equal(
        (await inView(page, "#nav button")).length,
        buttons,
        "all tools are in view",
      );
      const { x, y } =
        (await page.getByTestId("menu").boundingBox()) ??
        assert.fail("no menu");
      assert.deepEqual(
        [Math.round(x), y < 10],
        [width - 48, true],
        "the menu has the same place",
      );
    }
  });
}

for (const [width, height] of /** @type {const} */ ([
  [1366, 768],
  [1920, 1080],
  [844, 390],
])) {
  test(`the header of every page has the same place and the same links at ${width} by ${height}`, async (t) => {
    /** @type {unknown} */
    let first;
    for (const path of PAGES.slice(1)) {
      const page = await shelf.page(t, {
        path: `site/${path}`,
        ...screen(width, height),
      });
      assert.deepEqual(await inView(page, "#nav a"), NAMES);
      const boxes = await page.$$eval(".site-head, .home, #theme", (all) =>
        all.map((each) => JSON.stringify(each.getBoundingClientRect())),
      );
      assert.deepEqual(boxes, (first ??= boxes), path);
    }
  });
}

for (const [width, height] of /** @type {const} */ ([
  [390, 844],
  [844, 390],
  [1024, 768],
  [1366, 768],
  [1920, 1080],
])) {
  test(`the board links to all other pages at ${width} by ${height}`, async (t) => {
    const page = await shelf.page(t, {
      path: "site/",
      ...screen(width, height),
    });
    if (await page.getByTestId("menu").isVisible())
      await page.getByTestId("menu").click();
    assert.deepEqual(
      (await inView(page, "#nav a")).filter((name) => name !== "Board"),
      NAMES.slice(1),
    );
    await page.getByRole("link", { name: "Embed" }).click();
    await page.waitForURL(/embed\.html$/);
  });
}

for (const [name, [width, height, scale]] of Object.entries(LOW)) {
  test(`the moves of Explorer and Precedent are in view next to the board at ${name}`, async (t) => {
    for (const [path, row] of [
      ["explorer.html", "#played-moves tr"],
      ["precedent.html", "#moves li"],
    ]) {
      const page = await shelf.page(t, {
        path: `site/${path}`,
        ...screen(Number(width), Number(height), scale),
      });
      await page.locator(`.panel[aria-busy=false]`).waitFor();
      const expected =
        (path === "explorer.html" ? 5 : 2) - (height === 320 ? 2 : 0);
      const rows = await inView(page, String(row));
      assert.ok(rows.length >= expected, `${rows.length} rows of ${path}`);
      assert.ok(
        await page.evaluate(
          () => document.documentElement.scrollWidth <= innerWidth,
        ),
        "nothing to scroll sideways",
      );
      const [board, panel] = await page.$$eval(".board, .panel", (all) =>
        all.map((each) => each.getBoundingClientRect()),
      );
      assert.ok(
        board &&
          panel &&
          board.right <= panel.left &&
          board.bottom <= Number(height),
        "the whole board is next to the panel",
      );
      assert.ok(
        panel.left - board.right + (Number(width) - panel.right) + board.left <=
          80,
        "no empty margins",
      );
    }
  });

  test(`all colours can be chosen in Play at ${name}`, async (t) => {
    const page = await shelf.page(t, {
      path: "site/play.html",
      ...screen(Number(width), Number(height), scale),
    });
    const clipped = await page.$$eval("#setup fieldset label", (all) =>
      all
        .filter(
          (each) =>
            each.scrollWidth > each.clientWidth ||
            (each.querySelector("input")?.getBoundingClientRect().width ?? 0) <
              12,
        )
        .map((each) => each.textContent?.trim()),
    );
    assert.deepEqual(clipped, []);
    await page.getByTestId("side-any").check();
  });
}

for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
  test(`the choices of Precedent and Play look alike in the ${colorScheme} scheme`, async (t) => {
    const look = async (
      /** @type {string} */ path,
      /** @type {string} */ choices,
    ) => {
      const page = await shelf.page(t, {
        path: `site/${path}`,
        context: { colorScheme },
      });
      return page.$$eval(`${choices} label`, (all) =>
        all.slice(0, 2).map((each) => {
          const { borderStyle, borderColor, backgroundColor, borderRadius } =
            getComputedStyle(each);
          return [
            borderStyle,
            borderColor,
            backgroundColor,
            borderRadius,
            getComputedStyle(
              /** @type {Element} */ (each.querySelector("input")),
            ).accentColor,
          ];
        }),
      );
    };
    assert.deepEqual(
      await look("precedent.html", ".rules"),
      await look("play.html", "fieldset"),
    );
  });
}

for (const [width, height] of /** @type {const} */ ([
  [1366, 768],
  [1920, 1080],
  [960, 540],
  [1024, 768],
])) {
  test(`the names of phases do not cover each other, and no sentence of the board is cut off at ${width} by ${height}`, async (t) => {
    const moves =
      "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Bxc6 dxc6 5. d4 exd4 6. Qxd4 Qxd4 7. Nxd4 Bd7 8. Bf4 O-O-O 9. Nc3 Bb4 10. O-O-O Bxc3 11. bxc3 Nf6 12. e5 Nd5 13. Bd2 Rhe8 14. f4 f6 15. exf6 Nxf6 16. Rhe1 Rxe1 17. Rxe1 Re8 18. Rxe8+ Bxe8 19. Nf5 g6 20. Nh6 Bd7 21. Be3 Kd8 22. Bd4 Ke7 23. Bxf6+ Kxf6 24. Ng4+ Bxg4 25. h3 Be6 26. a3 h5 27. Kd2 Kf5 28. Ke3 g5 29. fxg5 Kxg5 30. Kf3 h4";
    const tail = Array.from(
      { length: 60 },
      (_, n) => `${31 + n}. ${["Ke3 Kf5", "Kf3 Kg5"][n % 2]}`,
    ).join(" ");
    const page = await shelf.page(t, {
      path: `site/#pgn=${encodeURIComponent(`${moves} ${tail} *`)}`,
      before: withoutEngine,
      ...screen(width, height),
    });
    await page.locator("#graph .phase").nth(1).waitFor({ state: "attached" });
    await until(() =>
      page.evaluate(() =>
        /request/.test(document.querySelector("#cost")?.textContent ?? ""),
      ),
    );
    const boxes = await page.$$eval("#graph .phase", (all) =>
      all
        .map((each) => {
          const range = document.createRange();
          range.selectNodeContents(each);
          const { left, right } = range.getBoundingClientRect();
          return { left, right };
        })
        .filter(({ left, right }) => right > left),
    );
    for (const [index, { right }] of boxes.entries())
      assert.ok(
        right <= (boxes[index + 1]?.left ?? Infinity),
        JSON.stringify(boxes),
      );
    const cut = await page.$$eval("#cost span, .pass", (all) =>
      all.flatMap((each) => {
        const [box, outer] = [
          each.getBoundingClientRect(),
          /** @type {Element} */ (each.parentElement).getBoundingClientRect(),
        ];
        return box.top < outer.bottom - 3 &&
          (box.right > outer.right + 0.5 ||
            (each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0))
          ? [each.textContent]
          : [];
      }),
    );
    assert.deepEqual(cut, []);
    assert.match(
      await page.locator("#cost span").first().innerText(),
      /position/,
    );
  });
}
