// Databases in folders, for Node, Deno and Bun.

import { open, readFile, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type ErrorCode, ShelfishError } from "./errors.js";
import type { Source } from "./types.js";

/** The source of a database that is named by a path or a `file:` URL. */
export function named(database: string | URL): Source | undefined {
  const text = String(database);
  // A scheme of one letter is a drive of Windows.
  if (/^(?!file:)[a-z][a-z\d+.-]+:/i.test(text)) return undefined;
  const path = /^file:/i.test(text) ? fileURLToPath(text) : text;
  return directory(basename(path) === "manifest.json" ? dirname(path) : path);
}

const failure = (code: ErrorCode, message: string, url: string, cause?: unknown) =>
  new ShelfishError({ code, message, url }, cause);

/** The files of a folder as the source of a database. */
export function directory(path: string): Source {
  const folder = resolve(path);
  const { href } = pathToFileURL(join(folder, "/"));

  /** Does something with a file; what goes wrong names it. */
  async function at<T>(file: string, work: (path: string, url: string) => Promise<T>): Promise<T> {
    const url = href + encodeURIComponent(file);
    if (/^\.*$|[/\\:\0]/.test(file)) throw failure("usage", `not the name of a file: ${JSON.stringify(file)}`, url);
    try {
      return await work(join(folder, file), url);
    } catch (cause) {
      if (cause instanceof ShelfishError) throw cause;
      const { code, message } = cause as NodeJS.ErrnoException;
      const isMissing = code === "ENOENT" || code === "ENOTDIR";
      throw failure(isMissing ? "status" : "network", isMissing ? "there is no such file" : message, url, cause);
    }
  }

  return {
    url: href,

    whole: (file, cap) =>
      at(file, async (path, url) => {
        const { size } = await stat(path);
        const content = size > cap ? undefined : await readFile(path);
        if (content && content.length <= cap) return content;
        throw failure("range", `the file has ${size} bytes, more than ${cap}`, url);
      }),

    range: (file, start, end) =>
      at(file, async (path, url) => {
        const handle = await open(path);
        try {
          const { size } = await handle.stat();
          // Nothing is allocated for what cannot be there.
          if (!(start >= 0 && start <= end && end <= size)) {
            throw failure("range", `the file has ${size} bytes, ${start} to ${end} were asked for`, url);
          }
          const content = new Uint8Array(end - start);
          let length = 0;
          while (length < content.length) {
            const { bytesRead } = await handle.read(content, length, content.length - length, start + length);
            if (bytesRead === 0) throw failure("range", `the file became shorter than ${end} bytes`, url);
            length += bytesRead;
          }
          return content;
        } finally {
          await handle.close();
        }
      }),
  };
}
