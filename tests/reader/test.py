"""Compares the reader with the vectors of FORMAT.md, and with the program's export of databases that the program builds.

SHELFISH=target/debug/shelfish python tests/reader/test.py
"""

import hashlib
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import chess
import zstandard

from columns import check
from positions import canonical, fen_of, key
from reader import Database

ROOT = pathlib.Path(__file__).parents[2]
DATA = ROOT / "tests/data"
FOLDER = pathlib.Path(tempfile.mkdtemp())


def rows(name):
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t", 2) for line in lines if not line.startswith("#")]


def shelfish(*words):
    return subprocess.run([os.environ["SHELFISH"], *map(str, words)], check=True, stdout=subprocess.PIPE).stdout


def compare(records, lines):
    for record, line in itertools.zip_longest(records, lines):
        check(record and line and record == json.loads(line), f"read {record}, expected {line}")


def canonical_positions():
    for _, expected, others in rows("fen-canonical.tsv"):
        for fen in [expected, *others.split("|")]:
            check(fen_of(canonical(fen)) == expected, f"{fen} became {fen_of(canonical(fen))}")


def bad_positions():
    for what, _, fen in rows("fen-bad.tsv"):
        try:
            canonical(fen)
        except ValueError:
            continue
        check(False, f"{what}: {fen} was accepted")


def keys():
    for _, fen, expected in rows("keys.tsv"):
        check(key(canonical(fen)).hex() == expected, f"{fen} has the key {key(canonical(fen)).hex()}")


def evaluations():
    lines = (DATA / "database/records.jsonl").read_text().splitlines()
    records = sorted(Database(DATA / "database/db").records(), key=lambda record: record["fen"])
    compare(records, sorted(lines, key=lambda line: json.loads(line)["fen"]))


def books():
    for name in ("book", "book-details"):
        lines = (DATA / name / "moves.jsonl").read_text().splitlines()
        compare(Database(DATA / name / "db").records(), lines)


def a_book_of_random_games():
    numbers, games, book = random.Random(52), FOLDER / "games.pgn", FOLDER / "book"
    with games.open("w") as file:
        for n in range(600):
            board, result = chess.Board(), numbers.choice(["1-0", "1/2-1/2", "0-1"])
            for _ in range(numbers.randrange(2, 14)):
                moves = sorted(board.legal_moves, key=chess.Move.uci)
                board.push(moves[int(len(moves) * numbers.random() ** 4)])
            facts = f'[Date "{2000 + n % 20}.01.01"]\n[WhiteElo "{1500 + n}"]\n[BlackElo "{"" if n % 9 else 2000}"]\n'
            moves = chess.Board().variation_san(board.move_stack)
            file.write(f'{facts}[Result "{result}"]\n\n{moves} {result}\n\n')
    details = ["--buckets", "speeds,since2010", "--average-ratings", "--game-ids", 3]
    shelfish("book", "build", games, "--quiet", "--max-plies", 20, *details, "--out", book)
    compare(Database(book).records(), shelfish("export", book).splitlines())


def an_update_with_pages_apart():
    dump = zstandard.ZstdDecompressor().decompressobj().decompress((DATA / "evaluations.jsonl.zst").read_bytes())
    lines = dump.splitlines(keepends=True)[:500]
    database, first, second = FOLDER / "db", FOLDER / "first.jsonl", FOLDER / "second.jsonl"
    first.write_bytes(b"".join(lines[1:]))
    second.write_bytes(lines[0])
    for options in ([first], [second, "--base", database, "--update"]):
        shelfish("build", *options, "--quiet", "--inline-pages", 0, "--out", database)
    check(len(list(database.glob("*.silo"))) == 2, "the update wrote no second file")
    pin = "sha256-" + hashlib.sha256((database / "manifest.json").read_bytes()).hexdigest()
    compare(Database(database, pin).records(), shelfish("export", database).splitlines())


failed = 0
for test in (
    canonical_positions,
    bad_positions,
    keys,
    evaluations,
    books,
    a_book_of_random_games,
    an_update_with_pages_apart,
):
    name = test.__name__.replace("_", " ")
    try:
        test()
        print(name, "ok", flush=True)
    except ValueError as error:
        failed += 1
        print(f"{error}\n{name} FAILED", flush=True)
sys.exit(failed)
