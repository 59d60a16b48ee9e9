const db = new URLSearchParams(location.search).get("db");
const show = ({ data }) =>
  void (document.querySelector("#answer").textContent = data);
const kind = "module";

if (kind === "module") {
  const worker = new Worker(new URL("./worker.js", import.meta.url), {
    type: "module",
  });
  worker.onmessage = show;
  worker.postMessage(db);
} else if (kind === "shared") {
  const { port } = new SharedWorker(new URL("./worker.js", import.meta.url), {
    type: "module",
  });
  port.onmessage = show;
  port.postMessage(db);
} else {
  navigator.serviceWorker.onmessage = show;
  navigator.serviceWorker.register(new URL("./worker.js", import.meta.url), {
    type: "module",
  });
  navigator.serviceWorker.ready.then(({ active }) => active.postMessage(db));
}
