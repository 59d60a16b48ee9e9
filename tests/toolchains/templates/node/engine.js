import { openEngine } from "shelfish/engine";

const url = new URL(
  "./node_modules/shelfish/engine-worker.js",
  import.meta.url,
);
const own = () => new Worker(url, { type: "module" });
for (const worker of globalThis.Worker ? [undefined, own] : [undefined]) {
  const engine = await openEngine({ worker });
  const { from, pvs } = await engine.analyse(
    "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1",
    { depth: 5, san: true },
  );
  engine.close();
  console.log(`${from} ${pvs[0].score} ${pvs[0].san[0]}`);
}
