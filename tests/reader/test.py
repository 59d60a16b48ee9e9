"""Compares the reader with the vectors of FORMAT.md, and with exports of built databases.

SHELFISH=target/debug/shelfish python tests/reader/test.py
"""

import hashlib
import json
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

import chess.pgn
import zstandard

from positions import canonical, fen_of, key
from reader import records

DATA = pathlib.Path(__file__).parents[1] / "data"
FOLDER = pathlib.Path(tempfile.mkdtemp())


def rows(name):
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t", 2) for line in lines if not line.startswith("#")]


def shelfish(*words):
    command = [os.environ["SHELFISH"], *map(str, words)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


class Reader(unittest.TestCase):
    def compare(self, database, lines, pin=None):
        expected = map(json.loads, lines.splitlines())
        for pair in zip(records(database, pin), expected, strict=True):
            self.assertEqual(*pair)

    def test_canonical_positions(self):
        for _, expected, others in rows("fen-canonical.tsv"):
            for fen in [expected, *others.split("|")]:
                self.assertEqual(fen_of(canonical(fen)), expected)

    def test_bad_positions(self):
        for what, _, fen in rows("fen-bad.tsv"):
            with self.assertRaises(ValueError, msg=what):
                canonical(fen)

    def test_keys(self):
        for _, fen, expected in rows("keys.tsv"):
            self.assertEqual(key(canonical(fen)).hex(), expected)

    def test_evaluations(self):
        lines = (DATA / "database/records.jsonl").read_text().splitlines()
        lines.sort(key=lambda line: key(canonical(json.loads(line)["fen"])))
        self.compare(DATA / "database/db", "\n".join(lines))

    def test_books(self):
        for folder in (DATA / "book", DATA / "book-details"):
            self.compare(folder / "db", (folder / "moves.jsonl").read_text())

    def test_a_book_of_random_games(self):
        numbers, games, book = random.Random(52), FOLDER / "games.pgn", FOLDER / "book"
        with games.open("w") as file:
            for n in range(600):
                board, result = chess.Board(), numbers.choice(["1-0", "1/2-1/2", "0-1"])
                for _ in range(numbers.randrange(2, 14)):
                    moves = sorted(board.legal_moves, key=chess.Move.uci)
                    board.push(moves[int(len(moves) * numbers.random() ** 4)])
                game, elo = chess.pgn.Game.from_board(board), "" if n % 9 else "2000"
                game.headers.update(Date=f"{2000 + n % 20}.01.01", Result=result)
                game.headers.update(WhiteElo=str(1500 + n), BlackElo=elo)
                print(game, file=file, end="\n\n")
        details = ["--buckets", "speeds,since2010", "--average-ratings", "--game-ids", 3]
        shelfish("book", "build", games, "--quiet", "--max-plies", 20, *details, "--out", book)
        self.compare(book, shelfish("export", book))

    def test_an_update_with_pages_apart(self):
        packed = (DATA / "evaluations.jsonl.zst").read_bytes()
        dump = zstandard.ZstdDecompressor().decompressobj().decompress(packed)
        second, *first = dump.splitlines(keepends=True)[:500]
        database, lines = FOLDER / "db", FOLDER / "lines.jsonl"
        for added, options in ((first, []), ([second], ["--base", database, "--update"])):
            lines.write_bytes(b"".join(added))
            shelfish("build", lines, *options, "--quiet", "--inline-pages", 0, "--out", database)
        self.assertEqual(len(list(database.glob("*.silo"))), 2)
        manifest = (database / "manifest.json").read_bytes()
        pin = "sha256-" + hashlib.sha256(manifest).hexdigest()
        self.compare(database, shelfish("export", database), pin)


unittest.main(verbosity=2)
