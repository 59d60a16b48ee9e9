// The page asks the Worker for evaluations, and is never blocked.

import { connect, type ShelfishError } from "shelfish/worker";

const url = new URLSearchParams(location.search).get("db") ?? "./evals/";
const form = document.querySelector("form")!;
const output = document.querySelector("output")!;

const worker = new Worker(new URL("./evals.ts", import.meta.url), {
  type: "module",
});
const connecting = connect(worker, url);
let abort = new AbortController();

async function show(fen: string) {
  abort.abort();
  abort = new AbortController();
  const { signal } = abort;
  try {
    const database = await connecting;
    const answer = await database.lookup(fen, { signal, san: true });
    const pv = answer?.best.pvs[0];
    output.value = pv
      ? `${pv.score} at depth ${answer.best.depth}: ${pv.san.join(" ")}`
      : "not in the database";
  } catch (error) {
    // An aborted lookup is no error.
    if ((error as ShelfishError).code !== "aborted")
      output.value = String((error as ShelfishError).message);
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void show(String(new FormData(form).get("fen")));
});
form.requestSubmit();
