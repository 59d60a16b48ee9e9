import { openEngine } from "shelfish/engine";

async function answer() {
  const engine = await openEngine();
  const {
    from,
    pvs: [best],
  } = await engine.analyse("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", {
    depth: 5,
    san: true,
  });
  engine.close();
  return `${from} ${best.score} ${best.san[0]}`;
}

answer()
  .catch((error) => `${error.name} ${error.code}: ${error.message}`)
  .then((text) => {
    document.querySelector("#answer").textContent = text;
  });
