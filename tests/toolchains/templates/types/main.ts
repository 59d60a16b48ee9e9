import { openDatabase, type Wasm } from "shelfish";
import { openDatabase as openInline } from "shelfish/inline";
import wasm from "shelfish/shelfish_bg.wasm";

const given: Wasm = wasm;

for (const wasm of [
  given,
  fetch("x.wasm"),
  new Uint8Array(8),
  new URL("file:///x.wasm"),
  undefined,
]) {
  const shelf = await openDatabase("https://example.org/", { wasm });
  const answer = await shelf.lookup("");
  console.log(answer?.pvs[0].score);
  await openInline("https://example.org/", { wasm });
}
