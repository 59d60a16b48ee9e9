"""Looks up positions by a single `shelfish lookup` process: one FEN in, one line of JSON out.

    printf '%s\n' "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -" | python3 lookup.py https://example.org/evals

Needs only the standard library of Python 3.8 or later, and the program `shelfish` (or its path in the variable SHELFISH).
"""

import json
import os
import subprocess
import sys


class Shelfish:
    """A process that looks up positions of a database: the path of a folder, or a URL."""

    def __init__(self, database, program=os.environ.get("SHELFISH", "shelfish")):
        command = [program, "lookup", database, "--json", "-"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def lookup(self, fen):
        """Returns the best evaluation of a position, or None if the database does not contain the position.

        Raises ValueError if the text is not a FEN or the database cannot be read, and RuntimeError if the process has ended.
        """
        if len(fen.splitlines()) != 1 or not fen.strip():
            # The process ignores an empty line.
            raise ValueError(f"expected a FEN in a single line, found {fen!r}")
        try:
            self.process.stdin.write(fen.strip() + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"shelfish ended with exit code {self.process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer["evaluations"][0] if answer["found"] else None

    def close(self):
        """Ends the process. Returns its exit code: 0, or 1 if a position could not be looked up."""
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: python3 lookup.py DATABASE < fens.txt")
    with Shelfish(sys.argv[1]) as shelfish:
        for fen in filter(None, map(str.strip, sys.stdin)):
            try:
                evaluation = shelfish.lookup(fen)
            except ValueError as error:
                print("error:", error, flush=True)
                continue
            if evaluation is None:
                print("not in the database", flush=True)
                continue
            pv = evaluation["pvs"][0]
            score = f"#{pv['mate']}" if "mate" in pv else f"{pv['cp'] / 100:+.2f}"
            print(f"{score} at depth {evaluation['depth']}: {pv['san']}", flush=True)


if __name__ == "__main__":
    main()
