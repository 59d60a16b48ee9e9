// The fences of the guides that are not JavaScript: commands run with the sample data, and files are read. The tests of the program
// parse all commands, and read the configurations of `refresh`.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { ROOT, SHELFISH } from "../browser/support/paths.mjs";
import { fencesOf, guides } from "./support/fences.mjs";

const fences = guides.flatMap(fencesOf);

/** @type {string} */
let home;
before(() => void (home = mkdtempSync(join(tmpdir(), "shelfish-guides-"))));
after(() => rmSync(home, { recursive: true }));

test("the rule for CORS is JSON that exposes the headers of ranges", () => {
  const rules = fences
    .filter(({ language }) => language === "json")
    .map(({ code }) => JSON.parse(code));
  assert.equal(rules.length, 1);
  for (const [rule] of rules)
    assert.deepEqual(
      [rule.AllowedMethods, rule.ExposeHeaders],
      [
        ["GET", "HEAD"],
        ["Content-Length", "Content-Range", "ETag"],
      ],
    );
});

for (const document of guides) {
  const own = fencesOf(document).filter(
    ({ language, note }) =>
      language === "jsonl" || (language === "sh" && note === ""),
  );
  if (own.length === 0) continue;
  test(
    `the commands of ${document} run`,
    {
      skip:
        process.platform === "win32" &&
        "the commands are those of a Unix shell",
    },
    async () => {
      const folder = mkdtempSync(join(home, "guide-"));
      symlinkSync(join(ROOT, "static-shards"), join(folder, "static-shards"));
      cpSync(join(ROOT, "tests/data/database/db"), join(folder, "evals"), {
        recursive: true,
      });
      cpSync(join(ROOT, "static-shards/famous.pgn"), join(folder, "games.pgn"));
      const env = {
        ...process.env,
        PATH: `${dirname(SHELFISH)}${delimiter}${process.env.PATH}`,
      };
      for (const { language, note, code } of own) {
        if (language === "jsonl") {
          writeFileSync(join(folder, note.slice("file=".length)), code);
          continue;
        }
        for (const line of code.trim().split("\n")) {
          assert.match(
            line,
            /^(grep .*\| )?shelfish /,
            "a command of another program needs the note `other`",
          );
          const { stdout, stderr } = await promisify(execFile)(
            "sh",
            ["-c", line],
            { cwd: folder, env, timeout: 120_000 },
          );
          const made = /(?:-o|--into|>) (\S+)/.exec(line)?.[1];
          assert.ok(
            made ? existsSync(join(folder, made)) : stdout + stderr !== "",
            `${line} prints nothing, and writes nothing`,
          );
        }
      }
    },
  );
}
