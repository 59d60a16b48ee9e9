/** Access to endgame tables. The module and the index are loaded for the first position with few pieces. */
import {
  type EndgameResult,
  openEndgames,
  ShelfishError,
} from "shelfish/endgames";
import { answered, OPEN_OPTIONS } from "../database/client";
import { loadOnce } from "../loading/load-once";

export class EndgameClient {
  constructor(readonly url: URL) {}

  /** Opens the tables. After a failure the next call tries again. */
  readonly open = loadOnce(() => openEndgames(this.url, OPEN_OPTIONS));

  /** Returns the results of positions. Positions without a table are left out. Rejects if the tables fail. */
  async probeMany(
    fens: readonly string[],
    signal: AbortSignal,
  ): Promise<(readonly [fen: string, result: EndgameResult])[]> {
    const endgames = await this.open();
    signal.throwIfAborted();
    const answers = await endgames.probeMany(fens, {
      signal,
      castling: "chess960",
    });
    const failed = answers.find(
      (answer) =>
        answer instanceof ShelfishError &&
        !["castling", "pieces", "table"].includes(answer.code),
    );
    if (failed) throw failed;
    return answered(fens, answers);
  }
}
