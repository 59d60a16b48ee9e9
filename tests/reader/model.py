"""The model of moves: FORMAT.md, section 8. Names are those of the text, and roles are 1 to 6."""

import pathlib
from bisect import bisect
from collections import defaultdict
from functools import cache
from itertools import cycle

import chess
from chess import BB_ALL, BB_SQUARES, BLACK, PAWN, WHITE, between, scan_forward, square_mirror

from columns import check

WORTH = [0, 1, 3, 3, 5, 9, 30]
OCTAVE = [4096, 3756, 3444, 3158, 2896, 2656, 2435, 2233]
WEIGHTS = open(pathlib.Path(__file__).parents[2] / "crate/src/moves/weights.bin", "rb")


def table(size):
    return memoryview(WEIGHTS.read(size)).cast("b")


# The file has the tables in this order.
TARGET = table(1536)
ORIGIN = table(768)
EXCHANGE = table(4536)
THREATS = table(3072)
REPLY = table(1344)
FOLLOW_UP = table(384)
MOBILITY = table(192)
OUR_KING = table(384)
PAWN_TO = table(1536)
OUTPOST = table(768)
UNDEFENDED = table(288)
FORK = table(192)
PLY = table(144)
EN_PRISE = table(1680)
REPEATED = table(90)
CONTINUATION = table(135)
check(not WEIGHTS.read(), "the weights are more than the tables")

distance = cache(chess.square_distance)


def bits(*conditions):
    return sum(1 << n for n, condition in enumerate(conditions) if condition)


@cache
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

    def __init__(self, board, mirror, move):
        self.mirror = mirror
        self.origin, target = move.from_square, move.to_square
        self.order = self.origin, target, move.promotion or 0
        self.code = 64 * (self.origin ^ mirror) + (target ^ mirror)
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

    def repeated(self, ply, code):
        """Returns "when" and "times"."""
        plies = self.plies.get((ply % 2, code))
        if not plies:
            return 0, 0
        latest = plies[-1]
        when = 1 if latest == ply else 2 if latest < ply else 3 if latest == ply + 2 else 4
        return when, min(2, len(plies) - 1)


def roles_on(board, squares):
    return [board.piece_type_at(square) for square in scan_forward(squares)]


def attacked(board, pieces):
    """Returns the squares that pieces attack, and those that two or more of them attack."""
    once = twice = 0
    for square in scan_forward(pieces):
        found = board.attacks_mask(square)
        once, twice = once | found, twice | once & found
    return once, twice


def static_exchange(board, square, occupied, standing, side, captures=32):
    attackers = list(scan_forward(board.attackers_mask(side, square, occupied) & occupied))
    if not attackers or not captures:
        return 0
    captor = min(attackers, key=board.piece_type_at)
    role = board.piece_type_at(captor)
    if role == chess.KING:
        # The king is the last captor, because attackers behind it do not count.
        return 0 if board.attackers_mask(not side, square, occupied) & occupied else standing
    occupied &= ~BB_SQUARES[captor]
    reply = static_exchange(board, square, occupied, WORTH[role], not side, captures - 1)
    return max(0, standing - reply)


def en_prise(board, side):
    found = 0
    for square in scan_forward(board.occupied_co[side] & ~board.kings):
        worth = WORTH[board.piece_type_at(square)]
        if static_exchange(board, square, board.occupied, worth, not side):
            found |= BB_SQUARES[square]
    return found


def ranked(board, line, memory, barred=()):
    """Returns the candidates at the end of a line by rank, and their frequencies."""
    mirror, board = (0, board) if board.turn else (56, board.mirror())
    candidates = [Move(board, mirror, move) for move in board.legal_moves]
    candidates = [move for move in candidates if move.order not in barred]
    scores = dict(zip(candidates, scores_of(board, line, memory, candidates)))
    candidates.sort(key=lambda move: (-scores[move], move.order))
    behind = [scores[candidates[0]] - scores[move] for move in candidates]
    return candidates, [max(1, OCTAVE[steps % 8] >> steps // 8) for steps in behind]


def scores_of(board, line, memory, candidates):
    """Yields the score of each move. The first part is the same for all moves."""
    pawns, rooks, queens, occupied = board.pawns, board.rooks, board.queens, board.occupied
    minor = board.knights | board.bishops
    theirs, ours = board.occupied_co
    their_pawns, our_pawns = pawns & theirs, pawns & ours
    by_us, by_us_twice = attacked(board, ours)
    by_them, by_them_twice = attacked(board, theirs)
    by_our_pawns, _ = attacked(board, our_pawns)
    by_their_pawns, _ = attacked(board, their_pawns)
    our_prise, their_prise = en_prise(board, WHITE), en_prise(board, BLACK)
    our_stake = max(roles_on(board, our_prise), default=0)
    their_stake = max(roles_on(board, their_prise), default=0)
    our_king, their_king = board.king(WHITE), board.king(BLACK)
    count = minor.bit_count() + 2 * rooks.bit_count() + 4 * queens.bit_count()
    phase = 3 - bisect((7, 13, 20), count)
    late = phase // 2
    weak = theirs & (their_prise | ~by_them)
    targets = [
        weak | theirs & more for more in (0, ~pawns, rooks | queens, rooks | queens, queens, 0, 0)
    ]
    endangered = our_prise & board.pieces_mask(our_stake, WHITE) if our_stake else 0
    attackers = lines = 0
    if endangered:
        first = chess.lsb(endangered)
        attackers = board.attackers_mask(BLACK, first)
        for square in scan_forward(attackers & (board.bishops | rooks | queens)):
            lines |= between(first, square)
    pin_mask, attackers_mask = cache(board.pin_mask), cache(board.attackers_mask)
    ply = len(line)
    own, last = [None, None, *line][-2:]
    arrivals = [earlier.to for earlier in line[-2::-2]]
    free = ~ours & ~by_their_pawns
    latest = [memory.latest.get(context) for context in contexts(line)]

    for move in candidates:
        # The terms of the move.
        origin, to, victim, r = move.origin, move.to, move.captured, move.role - 1
        from_mask, to_mask = BB_SQUARES[origin], BB_SQUARES[to]
        s = 6 * late + r
        before = 0 if move.castles else board.attacks_mask(origin)
        after = attacks(move.arrived, to, occupied & ~from_mask | to_mask)
        gained = after & ~before
        least = min(roles_on(board, attackers_mask(BLACK, to)), default=0)
        guard = [0, 1, 2, 2, 3, 4, 5][least]
        backed = (by_us_twice if before & to_mask else by_us) & to_mask
        support = 0 if not backed else 1 if by_them_twice & to_mask else 2
        gain = see = WORTH[victim]
        if by_them & to_mask:
            see -= static_exchange(board, to, occupied & ~from_mask, WORTH[move.role], BLACK)
        outcome = bisect((-4, -1, 0, 1, 2, 4), see)
        safety = 0 if not guard else 1 if see >= 0 else 2 if see >= -2 else 3
        risky = safety > 1
        taking = 0 if not victim else 3 if not safety else 2 if gain >= WORTH[move.role] else 1
        # The line of our slider, the moving piece and their king, or all squares.
        line_of_king = pin_mask(BLACK, origin)
        blocks = line_of_king != BB_ALL
        checks = bool(after & BB_SQUARES[their_king] or not line_of_king & to_mask)

        # The tables.
        score = TARGET[(6 * phase + r) * 64 + to] + ORIGIN[s * 64 + origin]
        score += EXCHANGE[(((6 * r + victim) * 6 + guard) * 3 + support) * 7 + outcome]
        taken = gained & theirs
        threats = bits(
            gained & weak & pawns,
            taken & minor,
            taken & rooks,
            taken & queens,
            gained & their_prise,
            gained & our_prise,
            after & chess.BB_KING_ATTACKS[their_king],
        )
        score += THREATS[(128 * s + threats) * 2 + risky]
        reply = (7 * r + 6) * 32
        if last:
            last_from, last_to = square_mirror(last.origin), square_mirror(last.to)
            answers = bits(
                board.attacks_mask(last_to) & from_mask,
                after & BB_SQUARES[last_to],
                to == last_from,
                to == last_to,
            )
            reply = ((7 * r + last.arrived - 1) * 2 + (last.captured > 0)) * 16 + answers
        score += REPLY[reply]
        if own:
            follow_up = bits(
                own.to == origin,
                own.origin == to,
                own.captured,
                victim,
                origin in arrivals,
                between(origin, to) & BB_SQUARES[own.origin],
            )
            score += FOLLOW_UP[64 * r + follow_up]
        mobility = (after & free).bit_count() - (before & free).bit_count()
        score += MOBILITY[16 * s + 7 + max(-7, min(8, mobility))]
        score += OUR_KING[(8 * r + distance(origin, our_king)) * 8 + distance(to, our_king)]

        rank, file = chess.square_rank(to), chess.BB_FILES[chess.square_file(to)]
        beside = chess.shift_left(file) | chess.shift_right(file)
        ahead = their_pawns & -1 << 8 * (rank + 1)
        if move.role == PAWN:
            others = our_pawns & ~from_mask
            pawn = bits(
                not ahead & (file | beside),
                by_our_pawns & backed,
                others & beside & chess.BB_RANKS[rank],
                after & their_pawns,
                by_their_pawns & to_mask,
                others & file,
                occupied & to_mask << 8,
            )
            score += PAWN_TO[(128 * late + pawn) * 6 + rank - 2]
        else:
            outpost = bits(
                our_pawns & file,
                their_pawns & file,
                not ahead & beside,
                by_our_pawns & to_mask,
                by_their_pawns & to_mask,
                pin_mask(WHITE, origin) != BB_ALL,
            )
            score += OUTPOST[64 * s + outpost]
        left = ours & before & by_them & ~by_us_twice & ~after
        greatest = max(roles_on(board, left & ~board.kings), default=0)
        undefended = [0, 0, 3, 3, 4, 5][greatest] or min(2, left.bit_count())
        rook = attackers_mask(WHITE, origin) & rooks > 0
        score += UNDEFENDED[((6 * s + undefended) * 2 + blocks) * 2 + rook]
        forked = min(3, (taken & targets[move.arrived]).bit_count())
        score += FORK[((4 * r + forked) * 4 + safety) * 2 + (their_stake > 1)]
        score += PLY[((6 * min(2, ply) + r) * 4 + taking) * 2 + checks]
        rescues = endangered & from_mask, attackers & to_mask, lines & to_mask, after & endangered
        relief = next((n for n, squares in enumerate(rescues, 1) if squares), 0)
        score += EN_PRISE[((7 * s + our_stake) * 5 + relief) * 4 + taking]
        if memory.lines:
            when, times = memory.repeated(ply, move.code)
            score += REPEATED[((3 * when + times) * 3 + min(2, ply)) * 2 + (victim > 0)]
            same, counter, follow = (
                0 if code is None else 2 if code == move.code else 1 for code in latest
            )
            score += CONTINUATION[((3 * same + counter) * 3 + follow) * 5 + when]
        yield score
