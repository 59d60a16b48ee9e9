"""The model of moves: FORMAT.md, section 8. Names are those of the text, and roles are 1 to 6."""

import functools
import pathlib
from bisect import bisect
from collections import defaultdict
from itertools import accumulate, cycle

import chess
from chess import BB_SQUARES, BISHOP, BLACK, KING, KNIGHT, PAWN, QUEEN, ROOK, WHITE, SquareSet

from columns import check

SIZES = {
    "Target": 1536,
    "Origin": 768,
    "Exchange": 4536,
    "Threats": 3072,
    "Reply": 1344,
    "FollowUp": 384,
    "Mobility": 192,
    "OurKing": 384,
    "Pawn": 1536,
    "Outpost": 768,
    "Undefended": 288,
    "Fork": 192,
    "Ply": 144,
    "EnPrise": 1680,
    "Repeated": 90,
    "Continuation": 135,
}
WEIGHTS = pathlib.Path(__file__).parents[2] / "crate/src/moves/weights.bin"
WEIGHTS = memoryview(WEIGHTS.read_bytes()).cast("b")
TABLES = {
    name: WEIGHTS[end - size : end]
    for (name, size), end in zip(SIZES.items(), accumulate(SIZES.values()))
}
WORTH = [0, 1, 3, 3, 5, 9, 30]
OCTAVE = [4096, 3756, 3444, 3158, 2896, 2656, 2435, 2233]


def bits(*conditions):
    return sum(1 << n for n, condition in enumerate(conditions) if condition)


@functools.cache
def board_of_one(role, square):
    board = chess.BaseBoard.empty()
    board.set_piece_at(square, chess.Piece(role, WHITE))
    return board


def attacks(role, square, occupied):
    """The squares that a piece of ours attacks from a square."""
    board = board_of_one(role, square)
    board.occupied = occupied
    return board.attacks_mask(square)


class Move:
    """A legal move as the mover sees it."""

    def __init__(self, view, move):
        board, self.mirror = view.board, view.mirror
        self.origin, target = move.from_square, move.to_square
        self.order = self.origin, target, move.promotion or 0
        self.code = 64 * (self.origin ^ self.mirror) + (target ^ self.mirror)
        self.role = board.piece_type_at(self.origin)
        self.arrived = move.promotion or self.role
        self.castles = board.is_castling(move)
        if self.castles:
            self.to, self.captured = chess.G1 if target > self.origin else chess.C1, 0
        else:
            self.to, self.captured = target, board.piece_type_at(target) or 0
        if board.is_en_passant(move):
            self.captured = PAWN

    def real(self):
        """The move in the squares of White."""
        return chess.Move(*divmod(self.code, 64), self.order[2] or None)

    def change(self, side):
        """How the move changes the board hash."""

        def piece(role, square, side):
            x = ((role + 8 * side) * 64 + (square ^ self.mirror)) * 0x9E3779B1 % 2**32
            return (x ^ x >> 15) * 0x85EBCA6B

        captured = piece(self.captured, self.to, not side) if self.captured else 0
        change = piece(self.arrived, self.to, side) - piece(self.role, self.origin, side)
        return change - captured


def contexts(line):
    """What the terms of Continuation compare at the end of a line: board, last move, own move."""
    hashed = sum(move.change(side) for move, side in zip(line, cycle((0, 1)))) % 2**32
    own, last = [None, None, *line][-2:]
    return [("board", hashed), last and ("last", last.code), own and ("own", own.code)]


class Memory:
    """The moves of earlier lines."""

    def __init__(self):
        self.lines, self.moves, self.plies, self.latest = 0, 0, defaultdict(list), {}

    def remember(self, line):
        self.lines += 1
        for ply, move in enumerate(line):
            self.plies[ply % 2, move.code].append(min(ply, 253))
            if self.moves < 1024:
                self.latest.update(dict.fromkeys(filter(None, contexts(line[:ply])), move.code))
            self.moves += 1

    def repeated(self, line, move):
        """Returns "when" and "times"."""
        ply, plies = len(line), self.plies.get((len(line) % 2, move.code))
        if not plies:
            return 0, 0
        latest = plies[-1]
        when = 1 if latest == ply else 2 if latest < ply else 3 if latest == ply + 2 else 4
        return when, min(2, len(plies) - 1)


class View:
    """A position as its mover sees it, with the terms that all moves have in common."""

    def __init__(self, board):
        self.mirror = 0 if board.turn else 56
        self.board = board = board if board.turn else board.mirror()
        pawns, knights, bishops = board.pawns, board.knights, board.bishops
        rooks, queens, kings = board.rooks, board.queens, board.kings
        self.roles = [0, pawns, knights, bishops, rooks, queens, kings]
        self.theirs, self.ours = board.occupied_co
        self.their_pawns, self.our_pawns = pawns & self.theirs, pawns & self.ours
        self.by_us, self.by_us_twice = self.attacked(WHITE)
        self.by_them, self.by_them_twice = self.attacked(BLACK)
        self.by_our_pawns = chess.shift_up_left(self.our_pawns)
        self.by_our_pawns |= chess.shift_up_right(self.our_pawns)
        self.by_their_pawns = chess.shift_down_left(self.their_pawns)
        self.by_their_pawns |= chess.shift_down_right(self.their_pawns)
        self.our_prise, self.their_prise = self.en_prise(WHITE), self.en_prise(BLACK)
        self.our_stake, self.their_stake = map(self.greatest, (self.our_prise, self.their_prise))
        self.our_king, self.their_king = board.king(WHITE), board.king(BLACK)
        count = (knights | bishops).bit_count() + 2 * rooks.bit_count() + 4 * queens.bit_count()
        self.phase = 3 - bisect((7, 13, 20), count)
        self.weak = self.theirs & (self.their_prise | ~self.by_them)
        more = [0, ~pawns, rooks | queens, rooks | queens, queens, 0, 0]
        self.targets = [self.weak | squares & self.theirs for squares in more]
        self.endangered = self.our_prise & self.roles[self.our_stake]
        self.rescues = [0, 0, 0]
        if self.endangered:
            first = chess.lsb(self.endangered)
            attackers = board.attackers_mask(BLACK, first)
            lines = [chess.between(first, s) for s in SquareSet(attackers & (bishops | rooks | queens))]
            self.rescues = [self.endangered, attackers, functools.reduce(int.__or__, lines, 0)]

    def attacked(self, side):
        """Returns the squares that a side attacks, and those that it attacks twice."""
        once = twice = 0
        for square in chess.scan_forward(self.board.occupied_co[side]):
            some = self.board.attacks_mask(square)
            once, twice = once | some, twice | once & some
        return once, twice

    def least(self, squares):
        return next((role for role in range(1, 7) if self.roles[role] & squares), 0)

    def greatest(self, squares):
        return next((role for role in range(6, 0, -1) if self.roles[role] & squares), 0)

    def see(self, square, occupied, standing, side, captures=32):
        attackers = self.board.attackers_mask(side, square, occupied) & occupied
        if not attackers or not captures:
            return 0
        role = self.least(attackers)
        if role == KING:
            # The king is the last captor. No attackers behind it are added.
            others = self.board.attackers_mask(not side, square, occupied) & occupied
            return 0 if others else standing
        captor = attackers & self.roles[role]
        occupied &= ~(captor & -captor)
        return max(0, standing - self.see(square, occupied, WORTH[role], not side, captures - 1))

    def en_prise(self, side):
        occupied, pieces = self.board.occupied, self.board.occupied_co[side] & ~self.roles[KING]
        worths = {s: WORTH[self.board.piece_type_at(s)] for s in chess.scan_forward(pieces)}
        return sum(BB_SQUARES[s] for s, w in worths.items() if self.see(s, occupied, w, not side))


def indices(view, line, memory, latest, move):
    """Yields the tables and indices of a move."""
    board, roles, theirs, occupied = view.board, view.roles, view.theirs, view.board.occupied
    origin, to, r = move.origin, move.to, move.role - 1
    from_mask, to_mask, victim = BB_SQUARES[origin], BB_SQUARES[to], move.captured
    late = view.phase // 2
    s, ply = 6 * late + r, len(line)
    own, last = [None, None, *line][-2:]

    before = 0 if move.castles else board.attacks_mask(origin)
    after = attacks(move.arrived, to, occupied & ~from_mask | to_mask)
    gained = after & ~before
    guard = [0, 1, 2, 2, 3, 4, 5][view.least(board.attackers_mask(BLACK, to))]
    backed = (view.by_us_twice if before & to_mask else view.by_us) & to_mask
    support = 0 if not backed else 1 if view.by_them_twice & to_mask else 2
    gain = see = WORTH[victim]
    if view.by_them & to_mask:
        see -= view.see(to, occupied & ~from_mask, WORTH[move.role], BLACK)
    safety = 0 if not guard else 1 if see >= 0 else 2 if see >= -2 else 3
    taking = 0 if not victim else 3 if not safety else 2 if gain >= WORTH[move.role] else 1
    outcome = bisect((-4, -1, 0, 1, 2, 4), see)
    # Their king is behind the moving piece on this line, or the line is the whole board.
    line_of_king = board.pin_mask(BLACK, origin)
    blocks = line_of_king != chess.BB_ALL
    checks = after & BB_SQUARES[view.their_king] or not line_of_king & to_mask

    yield "Target", (6 * view.phase + r) * 64 + to
    yield "Origin", s * 64 + origin
    yield "Exchange", (((6 * r + victim) * 6 + guard) * 3 + support) * 7 + outcome
    gained_from_them = gained & theirs
    threats = bits(
        gained & view.weak & roles[PAWN],
        gained_from_them & (roles[KNIGHT] | roles[BISHOP]),
        gained_from_them & roles[ROOK],
        gained_from_them & roles[QUEEN],
        gained & view.their_prise,
        gained & view.our_prise,
        after & chess.BB_KING_ATTACKS[view.their_king],
    )
    yield "Threats", (128 * s + threats) * 2 + (safety > 1)
    if last:
        last_from, last_to = chess.square_mirror(last.origin), chess.square_mirror(last.to)
        answers = bits(
            board.attacks_mask(last_to) & from_mask,
            after & BB_SQUARES[last_to],
            to == last_from,
            to == last_to,
        )
        yield "Reply", ((7 * r + last.arrived - 1) * 2 + (last.captured > 0)) * 16 + answers
    else:
        yield "Reply", (7 * r + 6) * 32
    if own:
        follow_up = bits(
            own.to == origin,
            own.origin == to,
            own.captured,
            victim,
            origin in [earlier.to for earlier in line[-2::-2]],
            chess.between(origin, to) & BB_SQUARES[own.origin],
        )
        yield "FollowUp", 64 * r + follow_up
    free = ~view.ours & ~view.by_their_pawns
    mobility = (after & free).bit_count() - (before & free).bit_count()
    yield "Mobility", 16 * s + 7 + max(-7, min(8, mobility))
    distances = [chess.square_distance(square, view.our_king) for square in (origin, to)]
    yield "OurKing", (8 * r + distances[0]) * 8 + distances[1]

    rank, file = chess.square_rank(to), chess.BB_FILES[chess.square_file(to)]
    beside = chess.shift_left(file) | chess.shift_right(file)
    ahead = view.their_pawns & -1 << 8 * (rank + 1)
    others = view.our_pawns & ~from_mask
    if move.role == PAWN:
        pawn = bits(
            not ahead & (file | beside),
            view.by_our_pawns & backed,
            others & beside & chess.BB_RANKS[rank],
            after & view.their_pawns,
            view.by_their_pawns & to_mask,
            others & file,
            occupied & to_mask << 8,
        )
        yield "Pawn", (128 * late + pawn) * 6 + rank - 2
    else:
        outpost = bits(
            view.our_pawns & file,
            view.their_pawns & file,
            not ahead & beside,
            view.by_our_pawns & to_mask,
            view.by_their_pawns & to_mask,
            board.is_pinned(WHITE, origin),
        )
        yield "Outpost", 64 * s + outpost
    left = view.ours & before & view.by_them & ~view.by_us_twice & ~after
    undefended = [0, 0, 3, 3, 4, 5][view.greatest(left & ~roles[KING])] or min(2, left.bit_count())
    rook = board.attackers_mask(WHITE, origin) & roles[ROOK]
    yield "Undefended", ((6 * s + undefended) * 2 + blocks) * 2 + bool(rook)
    forked = min(3, (gained_from_them & view.targets[move.arrived]).bit_count())
    yield "Fork", ((4 * r + forked) * 4 + safety) * 2 + (view.their_stake > 1)
    yield "Ply", ((6 * min(2, ply) + r) * 4 + taking) * 2 + bool(checks)
    endangered, attackers, between = view.rescues
    squares = [endangered & from_mask, attackers & to_mask, between & to_mask, after & endangered]
    relief = next((n for n, some in enumerate(squares, 1) if some), 0)
    yield "EnPrise", ((7 * s + view.our_stake) * 5 + relief) * 4 + taking
    if memory.lines:
        when, times = memory.repeated(line, move)
        yield "Repeated", ((3 * when + times) * 3 + min(2, ply)) * 2 + (victim > 0)
        same, counter, follow = (
            0 if code is None else 2 if code == move.code else 1 for code in latest
        )
        yield "Continuation", ((3 * same + counter) * 3 + follow) * 5 + when


def ranked(board, line, memory, barred=()):
    """Returns the candidates at the end of a line by rank, each with its frequency."""
    view, scores = View(board), {}
    latest = [memory.latest.get(context) for context in contexts(line)]
    for legal in view.board.legal_moves:
        move = Move(view, legal)
        if move.order not in barred:
            terms = indices(view, line, memory, latest, move)
            scores[move] = sum(TABLES[table][index] for table, index in terms)
    best = max(scores.values(), default=0)
    moves = sorted(scores, key=lambda move: (-scores[move], move.order))
    behind = [best - scores[move] for move in moves]
    return moves, [max(1, OCTAVE[d % 8] >> d // 8) for d in behind]
