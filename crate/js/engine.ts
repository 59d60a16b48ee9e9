// For browsers: the module and the Worker are next to the JavaScript. Bundlers recognise these expressions.

import { viteAdvice } from "./shared/load.js";
import { workers } from "./engine/engine.js";

/** The part of the browser's `trustedTypes` that is needed. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string };
}

let policy: ReturnType<TrustedTypes["createPolicy"]> | undefined;

/** Returns the URL of the Worker's script for a page that requires Trusted Types, by the policy `shelfish`. */
function trustedUrl(url: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  policy ??= trustedTypes?.createPolicy("shelfish", {
    createScriptURL: (url) => url,
  });
  return policy?.createScriptURL(url) ?? url;
}

/** The script that imports a script of another origin, whose Workers browsers refuse. */
let imported: string | undefined;

/** Returns the URL of a script of this origin that runs a script. */
function ownUrl({ href, origin }: URL): string {
  if (origin === globalThis.location?.origin) return href;
  const text = `import ${JSON.stringify(href)};`;
  return (imported ??= URL.createObjectURL(
    new Blob([text], { type: "text/javascript" }),
  ));
}

workers.make = () => {
  try {
    return new Worker(new URL("./engine-worker.js", import.meta.url), {
      type: "module",
    });
  } catch {
    // The page requires Trusted Types, or the script is of another origin. Bundlers would not find the Worker in this expression.
    return new Worker(
      trustedUrl(ownUrl(new URL("./engine-worker.js", import.meta.url))),
      { type: "module" },
    );
  }
};
workers.advice = viteAdvice(import.meta.url) ?? workers.advice;

export {
  Engine,
  engineName,
  openEngine,
  ShelfishError,
} from "./engine/engine.js";
export type * from "./engine/engine.js";
export { Evaluator, openEvaluator } from "./engine/evaluator.js";
export { openUciEngine, UciEngine } from "./engine/uci-engine.js";
