// Looks up all positions of a game at once, and lists the moves with their scores.

import { openDatabase, ShelfishError } from "shelfish";
import { openAnalysis } from "shelfish/analysis";

const PGN =
  "1. e4 e5 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3 Qe7 8. Nc3 c6 9. Bg5 b5";

const url = new URLSearchParams(location.search).get("db") ?? "./evals/";
const list = document.querySelector("ol")!;
const status = document.querySelector("[role=status]")!;

try {
  const [analysis, database] = await Promise.all([
    openAnalysis(),
    openDatabase(url),
  ]);
  const { moves, positions } = analysis.read(PGN);
  const answers = await database.lookupMany(positions);
  moves.forEach((move, n) => {
    const answer = answers[n + 1];
    const score =
      answer instanceof ShelfishError
        ? answer.message
        : (answer?.pvs[0].score ?? "not in the database");
    const item = document.createElement("li");
    item.textContent = `${move} ${score}`;
    list.append(item);
  });
  const { requests, bytes } = database.stats();
  status.textContent = `${requests} requests, ${bytes} bytes`;
  database.close();
} catch (error) {
  status.textContent = (error as Error).message;
}
