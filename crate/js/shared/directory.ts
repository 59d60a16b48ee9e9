// Databases in folders, for Node, Deno and Bun.

import { existsSync } from "node:fs";
import { open, readFile, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type ErrorCode, ShelfishError } from "./errors.js";
import { noPin } from "./options.js";
import type { Source } from "./types.js";

/** Returns the source of a database if it is named by a path or a `file:` URL. */
export function namedDirectory(
  call: string,
  text: string,
  manifest: string,
): Source | undefined {
  // A scheme of one letter is a drive of Windows.
  if (/^(?!file:)[a-z][a-z\d+.-]+:/i.test(text)) return undefined;
  const isFile = /^file:/i.test(text);
  // The names of folders may contain the character.
  const [, before] = /^(.*)#/s.exec(text) ?? [];
  if (before && (isFile || (existsSync(before) && !existsSync(text))))
    throw noPin(call, text);
  const path = isFile ? fileURLToPath(text) : text;
  return directory(basename(path) === manifest ? dirname(path) : path);
}

const failed = (
  code: ErrorCode,
  message: string,
  url: string,
  cause?: unknown,
) => new ShelfishError({ code, message, url }, cause);

/** Returns the files of a folder as the source of a database. */
export function directory(path: string): Source {
  const folder = resolve(path);
  const { href } = pathToFileURL(join(folder, "/"));

  /** Runs `work` on a file. Errors name the file. */
  async function withFile<T>(
    file: string,
    work: (path: string, url: string) => Promise<T>,
  ): Promise<T> {
    const url = href + encodeURIComponent(file);
    if (/^\.*$|[/\\:\0]/.test(file))
      throw failed(
        "usage",
        `not the name of a file: ${JSON.stringify(file)}`,
        url,
      );
    try {
      return await work(join(folder, file), url);
    } catch (cause) {
      if (cause instanceof ShelfishError) throw cause;
      const { code, message } = cause as NodeJS.ErrnoException;
      const isMissing = code === "ENOENT" || code === "ENOTDIR";
      const missing = `there is no such file${file === "manifest.json" || file === "endgames.index" ? `; expected the path of the folder that contains ${file}` : ""}`;
      throw failed(
        isMissing ? "missing" : "network",
        isMissing ? missing : message,
        url,
        isMissing ? undefined : cause,
      );
    }
  }

  /** Returns the size of a regular file. Opening a named pipe would wait without a limit. */
  async function sizeOf(path: string, url: string): Promise<number> {
    const found = await stat(path);
    if (!found.isFile())
      throw failed(
        "network",
        "expected a regular file, found another kind of file",
        url,
      );
    return found.size;
  }

  return {
    url: href,

    whole: (file, cap) =>
      withFile(file, async (path, url) => {
        const size = await sizeOf(path, url);
        const content = size > cap ? undefined : await readFile(path);
        if (content && content.length <= cap) return content;
        throw failed(
          "range",
          `the file has ${size} bytes, more than ${cap}`,
          url,
        );
      }),

    range: (file, start, end) =>
      withFile(file, async (path, url) => {
        const size = await sizeOf(path, url);
        const handle = await open(path);
        try {
          // Checked before the allocation.
          if (!(start >= 0 && start <= end && end <= size)) {
            throw failed(
              "range",
              `the file has ${size} bytes, but bytes ${start} to ${end} were requested`,
              url,
            );
          }
          const content = new Uint8Array(end - start);
          const length = content.length;
          const { bytesRead } = await handle.read(content, 0, length, start);
          if (bytesRead < length)
            throw failed(
              "range",
              `the file became shorter than ${end} bytes`,
              url,
            );
          return content;
        } finally {
          await handle.close();
        }
      }),
  };
}
