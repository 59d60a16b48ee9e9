// A Worker that speaks UCI. It replaces a Worker whose script is `stockfish.js`: commands and answers are messages of text.

import { Session } from "./uci/session.js";

const scope = globalThis as unknown as {
  postMessage(line: string): void;
  onmessage: ((event: { data: unknown }) => void) | null;
  close(): void;
  location?: { search: string };
};

const session = new Session((line) => scope.postMessage(line), {
  engine: async () => (await import("./engine.js")).openEngine,
  database: async () => (await import("./index.js")).openDatabase,
  endgames: async () => (await import("./endgames.js")).openEndgames,
});

// `?database=URL&endgames=URL` of the script set the options.
const parameters = new URLSearchParams(scope.location?.search);
for (const [parameter, option] of [
  ["database", "EvalDatabase"],
  ["endgames", "SyzygyPath"],
] as const) {
  const url = parameters.get(parameter);
  if (url) session.handle(`setoption name ${option} value ${url}`);
}

scope.onmessage = ({ data }) => {
  for (const line of String(data).split("\n")) {
    session.handle(line);
    if (line.trim() === "quit") scope.close();
  }
};
