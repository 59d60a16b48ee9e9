"""Canonical positions, keys, and the forest of a block: FORMAT.md, sections 1, 2 and 6."""

import pathlib
from collections import defaultdict
from itertools import count

import chess
from chess import (
    BB_ALL,
    BB_BACKRANKS,
    BB_SQUARES,
    BISHOP,
    BLACK,
    COLORS,
    KING,
    KNIGHT,
    PAWN,
    QUEEN,
    ROOK,
    WHITE,
    square_mirror,
)

from columns import check

FILES = [3, 4, 2, 5, 1, 6, 0, 7]
KINDS = [(role, side) for role in (QUEEN, ROOK, BISHOP, KNIGHT) for side in COLORS]
COLORED_SQUARES = [chess.BB_LIGHT_SQUARES, chess.BB_DARK_SQUARES]
PAWN_DIGITS = {"P": 1, "p": 2}
CORNERS = [chess.BB_A1, chess.BB_H1, chess.BB_A8, chess.BB_H8]
ROLES_OF_STEPS = [KNIGHT, BISHOP, ROOK, QUEEN, KING, PAWN]
INITIAL = sorted(chess.BaseBoard().piece_map(mask=BB_BACKRANKS).items())
# Each question is: does a side have more than a number of pieces of a role on some squares?
QUESTIONS = [
    *((PAWN, side, BB_SQUARES[square], 0) for side in COLORS for square in range(8, 56)),
    *((role, side, BB_ALL, number) for role, side in KINDS for number in range(2)),
    *((PAWN, side, BB_ALL, number) for side in COLORS for number in range(8)),
    *((PAWN, side, squares, 0) for side in COLORS for squares in chess.BB_FILES),
    *((piece.piece_type, piece.color, BB_SQUARES[square], 0) for square, piece in INITIAL),
    *((BISHOP, side, squares, 0) for side in COLORS for squares in COLORED_SQUARES),
    (BISHOP, WHITE, chess.BB_B2, 0),
    (BISHOP, WHITE, chess.BB_G2, 0),
    (BISHOP, BLACK, chess.BB_B7, 0),
    (BISHOP, BLACK, chess.BB_G7, 0),
]


def grow(tree, leaves):
    """Returns a leaf's number, or a question, its subtree for no, and its subtree for yes."""
    node = next(tree)
    return (
        next(leaves) if node == 255 else (QUESTIONS[node], grow(tree, leaves), grow(tree, leaves))
    )


ORDER = pathlib.Path(__file__).parents[2] / "crate/src/position/order.bin"
TREE = grow(iter(ORDER.read_bytes()), count())


def canonical(fen):
    """Returns the board of a FEN with the rights and the square of a canonical position."""
    fields = fen.split()
    check(4 <= len(fields) <= 6, "a FEN has four to six fields")
    fields[2] = "".join(sorted(fields[2]))
    check(fields[3][1:] in ("", "3", "6"), "the en-passant square is wrong")
    board = chess.Board(" ".join(fields), chess960=True)
    board.promoted = 0
    board.castling_rights = board.clean_castling_rights()
    board.ep_square = board.ep_square if is_en_passant(board) else None
    check_canonical(board)
    return board


def is_en_passant(board):
    return not board.status() & chess.STATUS_INVALID_EP_SQUARE and board.has_legal_en_passant()


def check_canonical(board):
    kings = [len(board.pieces(KING, side)) for side in COLORS]
    check(kings == [1, 1], f"kings of the sides: {kings}")
    check(not board.pawns & BB_BACKRANKS, "a pawn on the first or last rank")
    check(not board.was_into_check(), "the side that is not to move is in check")
    check(board.castling_rights == board.clean_castling_rights(), "a castling right is wrong")
    check(board.ep_square is None or is_en_passant(board), "an en-passant square is wrong")


def fen_of(board):
    return board.epd(en_passant="fen")


def pawn_squares(file):
    return range(8 + file, 56, 8)


def number_of(digits, base):
    number = 0
    for digit in digits:
        number = base * number + digit
    return number


def file_code(board, file):
    pieces = map(board.piece_at, pawn_squares(file))
    return number_of([PAWN_DIGITS.get(piece and piece.symbol(), 0) for piece in pieces], 3)


def key(board):
    node = TREE
    while isinstance(node, tuple):
        (role, side, squares, most), no, yes = node
        node = yes if (board.pieces_mask(role, side) & squares).bit_count() > most else no
    pawns = number_of([file_code(board, file) for file in FILES], 2**10).to_bytes(10, "big")
    pieces = [list(board.pieces(*kind)) for kind in KINDS]
    squares = [*map(board.king, COLORS), *sum(pieces, [])]
    castling, en_passant = board.castling_rights, board.ep_square
    rest = [not board.turn, castling & 255, castling >> 56]
    rest.append(0 if en_passant is None else chess.square_file(en_passant) + 1)
    material = number_of(map(len, pieces), 2**6).to_bytes(6, "big")
    return node.to_bytes(2, "big") + pawns + material + bytes(squares + rest)


class Node:
    """A position of the forest. `move` is the step from its parent."""

    def __init__(self, board, parent=None, move=None):
        self.board, self.parent, self.move, self.steps = board, parent, move, []
        if parent:
            parent.steps.append(self)


def step(parent, piece, target):
    board, side = parent.board.copy(stack=False), parent.board.turn
    board.ep_square = None
    origin = [square for role in ROLES_OF_STEPS for square in board.pieces(role, side)][piece]
    role = board.piece_type_at(origin)
    inside = ~BB_BACKRANKS if role == PAWN else BB_ALL
    moves = board.generate_pseudo_legal_moves(BB_SQUARES[origin], inside)
    targets = {move.to_square for move in moves}
    if role == KING:
        targets.update(chess.SquareSet(board.castling_rights & board.occupied_co[side]))
    targets = sorted(targets, key=lambda square: square if side else square_mirror(square))
    move = chess.Move(origin, targets[target])
    board.push(move)
    board.clear_stack()
    board.ep_square = None
    return Node(board, parent, move)


def marked(bits, items):
    return [item for n, item in enumerate(items) if bits >> n & 1]


def roots(columns):
    """Yields the boards of roots. Each is coded by its differences from the previous one."""
    codes, squares = dict.fromkeys(FILES, 0), defaultdict(list)
    counts = {(KING, WHITE): 1, (KING, BLACK): 1, **dict.fromkeys(KINDS, 0)}
    while True:
        flags, board = columns.byte(2), chess.Board(None, chess960=True)
        board.turn = not flags & 1
        board.castling_rights = sum(marked(flags >> 1, CORNERS))
        if flags & 32:
            board.castling_rights = columns.byte(3) | columns.byte(3) << 56
        if flags & 64:
            board.ep_square = chess.square(columns.byte(3), 5 if board.turn else 2)
        for file in marked(columns.byte(2), FILES):
            codes[file] = number_of(columns.take(3, 3), 9)
        for kind in marked(columns.byte(2), KINDS):
            counts[kind] = columns.byte(3)
        for file, code in codes.items():
            for square in reversed(pawn_squares(file)):
                code, digit = divmod(code, 3)
                if digit:
                    board.set_piece_at(square, chess.Piece(PAWN, digit == 1))
            check(code == 0, "a file code is too large")
        for (role, side), number in counts.items():
            places = squares[role, side]
            for n in range(number):
                if square := columns.byte(4):
                    places[n : n + 1] = [square - 1 if side else square_mirror(square - 1)]
                board.set_piece_at(places[n], chess.Piece(role, side))
        yield board


def positions(columns):
    path, nodes, boards = [], [], roots(columns)
    for byte in columns.rest(0):
        link, piece = divmod(byte, 16)
        check(link or not piece, "a byte from 1 to 15 is no link")
        node = step(path[-link], piece, columns.byte(1)) if link else Node(next(boards))
        path[len(path) - link + 1 if link else 0 :] = [node]
        nodes.append(node)
    return nodes
