import { openDatabase } from "shelfish";

async function answer(url) {
  const shelf = await openDatabase(url);
  const best = await shelf.lookup(
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
    { san: true },
  );
  return `${best.depth} ${best.pvs[0].score} ${best.pvs[0].san[0]}`;
}

const listen = (port) => (event) =>
  answer(event.data)
    .catch((error) => `${error.name} ${error.code}: ${error.message}`)
    .then((text) => (port ?? event.source).postMessage(text));

// A Worker, a SharedWorker or a service worker.
if ("onconnect" in self)
  self.onconnect = ({ ports: [port] }) => (port.onmessage = listen(port));
else self.onmessage = listen("clients" in self ? undefined : self);
