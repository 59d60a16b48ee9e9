// A page that asks Lichess. It does not know about databases.

const form = /** @type {HTMLFormElement} */ (document.querySelector("form"));
const output = /** @type {HTMLOutputElement} */ (
  document.querySelector("output")
);
const list = /** @type {HTMLOListElement} */ (document.querySelector("ol"));

/** @param {string} fen */
async function show(fen) {
  const question = new URLSearchParams({ fen });
  const [evaluation, masters] = await Promise.all([
    fetch(`https://lichess.org/api/cloud-eval?${question}`).then((answer) =>
      answer.json(),
    ),
    fetch(`https://explorer.lichess.org/masters?${question}&topGames=0`).then(
      (answer) => answer.json(),
    ),
  ]);
  const { error, depth, pvs: [pv] = [] } = evaluation;
  output.value =
    error ??
    `${pv.mate === undefined ? pv.cp / 100 : `#${pv.mate}`} at depth ${depth}`;
  const moves = masters.moves ?? [];
  list.replaceChildren(
    ...moves.map(
      (
        /** @type {{ san: string, white: number, draws: number, black: number }} */ {
          san,
          white,
          draws,
          black,
        },
      ) => {
        const item = document.createElement("li");
        item.textContent = `${san}: ${white} + ${draws} + ${black}`;
        return item;
      },
    ),
  );
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void show(String(new FormData(form).get("fen")));
});

form.requestSubmit();
