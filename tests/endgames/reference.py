"""Prints the results of python-chess for many positions of endgame tables, as a digest for each table.

    python reference.py TABLES > ../data/endgames/reference.tsv

A line has the name of a table, the set of positions (`all` or `random`), the number of positions, and the SHA-256 of
their results: win, draw or loss from 0 to 4 (one byte), then the distance to zeroing (two bytes, little-endian).
`crate/endgames/tests/reference.rs` computes the same digests.
"""

import hashlib
import itertools
import pathlib
import struct
import sys

import chess
import chess.syzygy

RANDOM = 3000
ALL = ["KBvK", "KNvK", "KPvK", "KQvK", "KRvK"]
MASK = (1 << 64) - 1


class Numbers:
    """SplitMix64."""

    def __init__(self, seed):
        self.state = seed

    def below(self, limit):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return (z ^ (z >> 31)) % limit


def position(material, squares, turn, is_swapped, ep_file):
    """Returns the position, or None if it is not legal or the game is over."""
    if len(set(squares)) < len(squares):
        return None
    board = chess.Board(None)
    white, _ = material.split("v")
    for n, (letter, square) in enumerate(zip(material.replace("v", ""), squares)):
        color = (n < len(white)) != is_swapped
        board.set_piece_at(square, chess.Piece(chess.PIECE_SYMBOLS.index(letter.lower()), color))
    board.turn = turn
    if ep_file is not None:
        board.ep_square = chess.square(ep_file, 5 if turn else 2)
    if not board.is_valid() or not any(board.generate_legal_moves()):
        return None
    return board


def every(material):
    """Yields all positions of a table."""
    pieces = len(material) - 1
    for squares in itertools.product(range(64), repeat=pieces):
        for turn in [chess.WHITE, chess.BLACK]:
            board = position(material, squares, turn, False, None)
            if board:
                yield board


def random(material, seed):
    """Yields random positions of a table. Half of them have exchanged colours."""
    numbers = Numbers(seed)
    pieces = len(material) - 1
    found = 0
    while found < RANDOM:
        squares = [numbers.below(64) for _ in range(pieces)]
        turn = numbers.below(2) == 0
        is_swapped = numbers.below(2) == 0
        ep = numbers.below(16)
        board = position(material, squares, turn, is_swapped, ep if ep < 8 else None)
        if board is None:
            board = position(material, squares, turn, is_swapped, None)
        if board:
            found += 1
            yield board


def print_digest(tables, material, name, boards):
    digest, count = hashlib.sha256(), 0
    for board in boards:
        count += 1
        digest.update(struct.pack("<Bh", tables.probe_wdl(board) + 2, tables.probe_dtz(board)))
    print(material, name, count, digest.hexdigest(), sep="\t", flush=True)


folder = pathlib.Path(sys.argv[1])
with chess.syzygy.open_tablebase(folder) as tables:
    for seed, path in enumerate(sorted(folder.glob("*.rtbw"))):
        print_digest(tables, path.stem, "random", random(path.stem, seed))
    for material in ALL:
        print_digest(tables, material, "all", every(material))
