// The entry `shelfish/sample`: a small database, for first steps and tests.

import { PREBUNDLED } from "../shared/load.js";

const FILE = "sample/manifest.json";

/**
 * URL of the sample database in this package: openings up to 13 plies and famous games, 15,000 positions. Bundlers do not copy its
 * files: `npx shelfish sample public/evals` copies them.
 */
export const sample: URL = (() => {
  const [, root] = PREBUNDLED.exec(import.meta.url) ?? [];
  // Bundlers would replace `new URL("…", import.meta.url)` by a copy of the manifest without the other files.
  const folder = new URL(".", import.meta.url);
  return new URL(
    root === undefined ? FILE : `${root}node_modules/shelfish/${FILE}`,
    folder,
  );
})();
