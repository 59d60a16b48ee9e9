"""Canonical positions, keys, and the forest of a block: FORMAT.md, sections 1, 2 and 6."""

import itertools
import pathlib

import chess

from columns import check, check_used

FILES = [3, 4, 2, 5, 1, 6, 0, 7]
KINDS = [(role, side) for role in (chess.QUEEN, chess.ROOK, chess.BISHOP, chess.KNIGHT) for side in (True, False)]
BACK_RANK = [chess.ROOK, chess.KNIGHT, chess.BISHOP, chess.QUEEN, chess.KING, chess.BISHOP, chess.KNIGHT, chess.ROOK]
LEAF = 255
KINGS = [(chess.KING, True), (chess.KING, False)]


def canonical(fen):
    """Returns the board of a FEN with the castling rights and the en-passant square of a canonical position."""
    fields = fen.split()
    check(len(fields) in (4, 5, 6), "a FEN has four to six fields")
    pieces, side, castling, en_passant = fields[:4]
    check(pieces.isascii() and side in ("w", "b"), "the board or the side to move is wrong")
    check(all(counter.isdecimal() for counter in fields[4:]), "a move counter is wrong")
    board = chess.Board(None, chess960=True)
    board.set_board_fen(pieces)
    board.promoted = 0
    board.turn = side == "w"
    for letter in castling if castling != "-" else "":
        check(letter.upper() in "KQABCDEFGH", "a castling right is wrong")
        white = letter.isupper()
        row = chess.BB_RANK_1 if white else chess.BB_RANK_8
        rooks = list(chess.scan_forward(board.rooks & board.occupied_co[white] & row))
        king = board.king(white)
        if letter in "Kk":
            rooks = [square for square in rooks[-1:] if square > (king or 0)]
        elif letter in "Qq":
            rooks = [square for square in rooks[:1] if square < (king or 0)]
        else:
            rooks = [square for square in rooks if square & 7 == ord(letter.upper()) - ord("A")]
        board.castling_rights |= chess.BB_SQUARES[rooks[0]] if rooks else 0
    board.castling_rights = board.clean_castling_rights()
    if en_passant != "-":
        check(en_passant in chess.SQUARE_NAMES and en_passant[1] in "36", "the en-passant square is wrong")
        board.ep_square = chess.parse_square(en_passant)
        board.ep_square = board.ep_square if is_en_passant(board) else None
    check_canonical(board)
    return board


def is_en_passant(board):
    return board._valid_ep_square() is not None and board.has_legal_en_passant()


def check_canonical(board):
    sides = (board.kings & pieces for pieces in board.occupied_co)
    check(all(king.bit_count() == 1 for king in sides), "a side has not one king")
    check(not board.pawns & chess.BB_BACKRANKS, "a pawn on the first or last rank")
    check(not board.was_into_check(), "the side that is not to move is in check")
    check(board.castling_rights == board.clean_castling_rights(), "a castling right is not canonical")
    check(board.ep_square is None or is_en_passant(board), "an en-passant square is not canonical")


def fen_of(board):
    return board.epd(en_passant="fen")


def bitmap(squares):
    return sum(1 << chess.square_file(square) for square in chess.scan_forward(squares))


def file_code(board, file):
    code = 0
    for rank in range(1, 7):
        square = chess.BB_SQUARES[8 * rank + file] & board.pawns
        code = 3 * code + (1 if square & board.occupied_co[True] else 2 if square else 0)
    return code


def grow(tree, leaves):
    """Returns a leaf's number, or a question, its subtree for no, and its subtree for yes."""
    question = next(tree)
    return next(leaves) if question == LEAF else (question, grow(tree, leaves), grow(tree, leaves))


ORDER = pathlib.Path(__file__).parents[2] / "crate/src/position/order.bin"
TREE = grow(iter(ORDER.read_bytes()), itertools.count())


def holds(board, n):
    """The answer to a question of the tree."""

    def pieces(role, side):
        return board.pieces_mask(role, side == 0)

    squares = chess.BB_FILES[n % 8]
    if n < 96:
        return pieces(chess.PAWN, n // 48) & chess.BB_SQUARES[8 + n % 48]
    if n < 112:
        return board.pieces_mask(*KINDS[(n - 96) // 2]).bit_count() > n % 2
    if n < 128:
        return pieces(chess.PAWN, (n - 112) // 8).bit_count() > n % 8
    if n < 144:
        return pieces(chess.PAWN, (n - 128) // 8) & squares
    if n < 160:
        side = (n - 144) // 8
        return pieces(BACK_RANK[n % 8], side) & squares & (chess.BB_RANK_8 if side else chess.BB_RANK_1)
    if n < 164:
        return pieces(chess.BISHOP, (n - 160) // 2) & (chess.BB_DARK_SQUARES if n % 2 else chess.BB_LIGHT_SQUARES)
    corner = [chess.B2, chess.G2, chess.B7, chess.G7][n % 4]
    return pieces(chess.BISHOP, n % 4 // 2) & chess.BB_SQUARES[corner]


def leaf(board):
    node = TREE
    while isinstance(node, tuple):
        node = node[2 if holds(board, node[0]) else 1]
    return node


def key(board):
    pawns = sum(file_code(board, file) << 10 * (7 - n) for n, file in enumerate(FILES))
    pieces = [list(chess.scan_forward(board.pieces_mask(*kind))) for kind in KINDS]
    material = sum(len(squares) << 6 * (7 - n) for n, squares in enumerate(pieces))
    kings = [board.king(True), board.king(False)]
    castling = [bitmap(board.castling_rights & row) for row in (chess.BB_RANK_1, chess.BB_RANK_8)]
    en_passant = 0 if board.ep_square is None else chess.square_file(board.ep_square) + 1
    end = [not board.turn, *castling, en_passant]
    return leaf(board).to_bytes(2, "big") + pawns.to_bytes(10, "big") + material.to_bytes(6, "big") + bytes(kings + sum(pieces, []) + end)


class Node:
    def __init__(self, board, parent=None, move=None):
        self.board, self.parent, self.move, self.steps = board, parent, move, []
        if parent:
            parent.steps.append(self)


def targets(board, origin):
    """The squares to which a piece may step."""
    side, own, piece = board.turn, board.occupied_co[board.turn], board.piece_type_at(origin)
    found = board.attacks_mask(origin) & ~own
    if piece == chess.PAWN:
        free, ahead = ~board.occupied, origin + (8 if side else -8)
        found &= board.occupied
        found |= chess.BB_SQUARES[ahead] & free
        if found & chess.BB_SQUARES[ahead] and chess.square_rank(origin) == (1 if side else 6):
            found |= chess.BB_SQUARES[2 * ahead - origin] & free
        return found & ~chess.BB_BACKRANKS
    return found | board.castling_rights & own if piece == chess.KING else found


def step(parent, piece, target):
    board, mirror = parent.board.copy(stack=False), 0 if parent.board.turn else 56
    own, side = board.occupied_co[board.turn], board.turn
    roles = [board.knights, board.bishops, board.rooks, board.queens, board.kings, board.pawns]
    origin = [square for role in roles for square in chess.scan_forward(role & own)][piece]
    to = sorted(chess.scan_forward(targets(board, origin)), key=lambda square: square ^ mirror)[target]
    rights = board.castling_rights & ~(chess.BB_SQUARES[origin] | chess.BB_SQUARES[to])
    moved = board.remove_piece_at(origin)
    if moved.piece_type == chess.KING:
        rights &= chess.BB_RANK_8 if side else chess.BB_RANK_1
    if chess.BB_SQUARES[to] & own:
        rook, row = board.remove_piece_at(to), to & 56
        board.set_piece_at(row + (6 if to > origin else 2), moved)
        board.set_piece_at(row + (5 if to > origin else 3), rook)
    else:
        board.set_piece_at(to, moved)
    board.castling_rights, board.ep_square, board.turn = rights, None, not side
    return Node(board, parent, (origin, to))


class Roots:
    """Columns 2 to 4. Each root is coded by its differences from the previous one."""

    def __init__(self, columns):
        self.columns = columns
        self.codes, self.counts, self.squares = dict.fromkeys(FILES, 0), dict.fromkeys(KINDS, 0), {}

    def next(self):
        bits, numbers, squares = self.columns
        flag, board = bits.byte(), chess.Board(None, chess960=True)
        board.turn = not flag & 1
        corners = [chess.A1, chess.H1, chess.A8, chess.H8]
        board.castling_rights = sum(chess.BB_SQUARES[s] for n, s in enumerate(corners) if flag >> n + 1 & 1)
        if flag & 32:
            board.castling_rights = numbers.byte() | numbers.byte() << 56
        if flag & 64:
            board.ep_square = chess.square(numbers.byte(), 5 if board.turn else 2)
        changed = bits.byte()
        for n, file in enumerate(FILES):
            if changed >> n & 1:
                self.codes[file] = 81 * numbers.byte() + 9 * numbers.byte() + numbers.byte()
            code = self.codes[file]
            for rank in range(6, 0, -1):
                code, digit = divmod(code, 3)
                if digit:
                    board.set_piece_at(8 * rank + file, chess.Piece(chess.PAWN, digit == 1))
            check(code == 0, "a file code is too large")
        changed = bits.byte()
        for n, kind in enumerate(KINDS):
            if changed >> n & 1:
                self.counts[kind] = numbers.byte()
        for (role, side), count in [*zip(KINGS, (1, 1)), *self.counts.items()]:
            memory = self.squares.setdefault((role, side), [])
            for n in range(count):
                number = squares.byte()
                if number:
                    memory[n : n + 1] = [number - 1 if side else number - 1 ^ 56]
                check(n < len(memory) and board.piece_at(memory[n]) is None, "two pieces on a square")
                board.set_piece_at(memory[n], chess.Piece(role, side))
        return Node(board)


def positions(columns):
    links, squares = columns[:2]
    roots, path, nodes = Roots(columns[2:5]), [], []
    while links.left():
        link, piece = divmod(links.byte(), 16)
        check(link <= len(path) and (link or not piece), "a link leads beyond the path")
        del path[len(path) - link + 1 if link else 0 :]
        path.append(step(path[-1], piece, squares.byte()) if link else roots.next())
        nodes.append(path[-1])
    check_used(columns[:5])
    return nodes
