// The way in which the entries of the engine start Workers.

import type { EngineWorker } from "./messages.js";

/** Parts that depend on the host. Each entry sets them. */
export const workers: { make: () => EngineWorker; advice: string } = {
  make: () => {
    throw new TypeError("no Worker");
  },
  advice:
    'if a bundler omitted its script, import from "shelfish/engine/inline", or pass openEngine({ worker })',
};

/** The part of the browser's `trustedTypes` that is needed. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string };
}

let policy: ReturnType<TrustedTypes["createPolicy"]> | undefined;

/** Returns the URL of the Worker's script for a page that requires Trusted Types, by the policy `shelfish`. */
export function trustedUrl(url: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  policy ??= trustedTypes?.createPolicy("shelfish", {
    createScriptURL: (url) => url,
  });
  return policy?.createScriptURL(url) ?? url;
}
