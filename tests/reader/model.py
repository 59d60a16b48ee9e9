"""The model of moves and the coded lines: FORMAT.md, section 8. Names are those of the text."""

import pathlib
from collections import defaultdict
from itertools import accumulate

import chess

WEIGHTS = (pathlib.Path(__file__).parents[2] / "crate/src/moves/weights.bin").read_bytes()
TABLES = {
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
assert sum(TABLES.values()) == len(WEIGHTS), "weights.bin has another size than the tables"
STARTS = dict(zip(TABLES, accumulate(TABLES.values(), initial=0)))
P, N, B, R, Q, K = range(6)
WORTH = [1, 3, 3, 5, 9, 30]
OCTAVE = [4096, 3756, 3444, 3158, 2896, 2656, 2435, 2233]
WE, THEY = chess.WHITE, chess.BLACK


def has(squares, square):
    return squares >> square & 1


def bits(*conditions):
    return sum(1 << n for n, condition in enumerate(conditions) if condition)


def squares_of(squares):
    return list(chess.scan_forward(squares))


def diagonals(square, occupied):
    return chess.BB_DIAG_ATTACKS[square][chess.BB_DIAG_MASKS[square] & occupied]


def straights(square, occupied):
    return (
        chess.BB_RANK_ATTACKS[square][chess.BB_RANK_MASKS[square] & occupied]
        | chess.BB_FILE_ATTACKS[square][chess.BB_FILE_MASKS[square] & occupied]
    )


def attacks(role, square, occupied, side=WE):
    if role in (P, N, K):
        return [chess.BB_PAWN_ATTACKS[side], chess.BB_KNIGHT_ATTACKS, 0, 0, 0, chess.BB_KING_ATTACKS][role][square]
    return (diagonals(square, occupied) if role != R else 0) | (straights(square, occupied) if role != B else 0)


def is_mirrored(side):
    """Squares are seen by the mover: XOR 56 for Black."""
    return 0 if side else 56


class Move:
    """A legal move as the mover sees it."""

    def __init__(self, seen, move):
        self.origin, self.target, self.promotion = move.from_square, move.to_square, move.promotion or 0
        self.role = seen.role(self.origin)
        self.castles = self.role == K and has(seen.ours, self.target)
        self.to = (6 if self.target > self.origin else 2) if self.castles else self.target
        self.arrived = self.promotion - 1 if self.promotion else self.role
        self.captured = seen.role(self.target) if has(seen.theirs, self.target) else None
        if self.role == P and self.captured is None and (self.origin ^ self.target) & 7:
            self.captured = P

    def squares(self, mirror):
        return self.origin ^ mirror, self.target ^ mirror

    def code(self, mirror):
        origin, target = self.squares(mirror)
        return 64 * origin + target

    def name(self, mirror):
        """The move in UCI, castling as "king takes own rook"."""
        return chess.Move(*self.squares(mirror), self.promotion or None).uci()

    def order(self):
        return self.origin, self.target, self.promotion


class Line:
    """The moves of a line up to a position, in White's squares."""

    def __init__(self, board):
        self.start, self.board = board, board.copy(stack=False)
        self.first, self.hash, self.played = board.turn, 0, []

    def play(self, move):
        """Plays a move of `legal`."""
        side, mirror = self.board.turn, is_mirrored(self.board.turn)
        self.played.append((move, mirror, self.hash))
        self.change(-1, move.role, move.origin ^ mirror, side)
        if move.captured is not None:
            self.change(-1, move.captured, move.to ^ mirror, not side)
        self.change(1, move.arrived, move.to ^ mirror, side)
        self.board.push(chess.Move(*move.squares(mirror), move.promotion or None))

    def rest(self, board):
        """Returns the rest of the line from a board on, if its first moves lead there."""
        line = Line(self.start)
        for n, (move, _, _) in enumerate(self.played[:4], 1):
            line.play(move)
            if line.board.turn == board.turn and line.board.board_fen() == board.board_fen():
                line = Line(line.board)
                for following, _, _ in self.played[n:]:
                    line.play(following)
                return line
        return None

    def change(self, sign, role, square, side):
        x = ((role + 1 + 8 * (side != self.first)) * 64 + square) * 0x9E3779B1 & 0xFFFFFFFF
        self.hash = (self.hash + sign * (x ^ x >> 15) * 0x85EBCA6B) & 0xFFFFFFFF

    def codes(self):
        return [move.code(mirror) for move, mirror, _ in self.played]


class Memory:
    """The moves of earlier lines."""

    def __init__(self):
        self.lines, self.moves, self.plies = 0, 0, defaultdict(list)
        self.board, self.countermove, self.follow_up = {}, {}, {}

    def remember(self, line):
        codes = [None, None, *line.codes()]
        for ply, (code, (_, _, board)) in enumerate(zip(codes[2:], line.played)):
            self.plies[ply & 1, code].append(min(ply, 253))
            if self.moves < 1024:
                self.board[board] = self.countermove[codes[ply + 1]] = self.follow_up[codes[ply]] = code
            self.moves += 1
        self.lines += 1


class Seen:
    """A position as its mover sees it."""

    def __init__(self, board):
        self.board = board = board if board.turn else board.mirror()
        self.roles = [board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings]
        self.all, self.sides = board.occupied, board.occupied_co
        self.ours, self.theirs = self.sides[WE], self.sides[THEY]

    def role(self, square):
        return next((role for role in range(6) if has(self.roles[role], square)), None)

    def legal(self):
        return sorted((Move(self, move) for move in self.board.generate_legal_moves()), key=Move.order)

    def attacked(self, side):
        once = twice = 0
        for role in range(6):
            for square in squares_of(self.roles[role] & self.sides[side]):
                some = attacks(role, square, self.all, side)
                once, twice = once | some, twice | once & some
                if role == P:
                    self.by_pawns[side] |= some
        return once, twice

    def attackers(self, square, occupied):
        pawns, knights, bishops, rooks, queens, kings = self.roles
        return (
            chess.BB_PAWN_ATTACKS[THEY][square] & pawns & self.ours
            | chess.BB_PAWN_ATTACKS[WE][square] & pawns & self.theirs
            | chess.BB_KNIGHT_ATTACKS[square] & knights
            | chess.BB_KING_ATTACKS[square] & kings
            | diagonals(square, occupied) & (bishops | queens)
            | straights(square, occupied) & (rooks | queens)
        ) & occupied

    def least(self, squares):
        return next(role for role in range(6) if self.roles[role] & squares)

    def see(self, square, occupied, standing, side):
        attackers, worths = self.attackers(square, occupied), []
        while len(worths) < 32 and (own := attackers & self.sides[side] & occupied):
            role = self.least(own)
            if role == K and attackers & self.sides[not side] & occupied:
                break
            worths.append(standing)
            standing, captors = WORTH[role], own & self.roles[role]
            occupied &= ~(captors & -captors)
            if role in (P, B, Q):
                attackers |= diagonals(square, occupied) & (self.roles[B] | self.roles[Q])
            if role in (R, Q):
                attackers |= straights(square, occupied) & (self.roles[R] | self.roles[Q])
            side = not side
        result = 0
        for worth in reversed(worths):
            result = max(0, worth - result)
        return result

    def en_prise(self, side, attacked):
        pieces = squares_of(self.sides[side] & ~self.roles[K] & attacked)
        return sum(1 << s for s in pieces if self.see(s, self.all, WORTH[self.role(s)], not side) > 0)

    def stake(self, squares):
        return max((role + 1 for role in range(6) if self.roles[role] & squares), default=0)

    def alone(self, king, side):
        """Pieces that alone stand between a king and a slider of a side."""
        pawns, knights, bishops, rooks, queens, _ = self.roles
        snipers = diagonals(king, 0) & (bishops | queens) | straights(king, 0) & (rooks | queens)
        found = 0
        for square in squares_of(snipers & self.sides[side]):
            between = chess.between(king, square) & self.all
            if between and not between & between - 1:
                found |= between
        return found

    def terms(self):
        """Computes what is the same for all moves of the position."""
        self.by_pawns = [0, 0]
        (self.u, self.u2), (self.v, self.v2) = self.attacked(WE), self.attacked(THEY)
        self.their_king = squares_of(self.roles[K] & self.theirs)[0]
        self.our_king = squares_of(self.roles[K] & self.ours)[0]
        self.our_prise, self.their_prise = self.en_prise(WE, self.v), self.en_prise(THEY, self.u)
        self.our_stake, self.their_stake = self.stake(self.our_prise), self.stake(self.their_prise)
        self.blockers = self.alone(self.their_king, WE)
        self.pinned = self.alone(self.our_king, THEY) & self.ours
        self.zone = chess.BB_KING_ATTACKS[self.their_king]
        count = sum(n * self.roles[role].bit_count() for role, n in [(N, 1), (B, 1), (R, 2), (Q, 4)])
        self.phase = 0 if count >= 20 else 1 if count >= 13 else 2 if count >= 7 else 3
        self.weak = self.theirs & (self.their_prise | ~self.v)
        pawns, _, _, rooks, queens, _ = self.roles
        more = [~pawns, rooks | queens, rooks | queens, queens, 0, 0]
        self.targets = [self.weak | squares & self.theirs for squares in more]
        self.endangered = self.our_prise & self.roles[self.our_stake - 1] if self.our_stake else 0
        self.first = squares_of(self.endangered)[0] if self.endangered else None
        self.first_attackers = self.attackers(self.first, self.all) & self.theirs if self.endangered else 0

    def relief(self, move, after):
        if not self.endangered:
            return 0
        if has(self.endangered, move.origin):
            return 1
        if has(self.first_attackers, move.to):
            return 2
        sliders = self.first_attackers & (self.roles[B] | self.roles[R] | self.roles[Q])
        if any(has(chess.between(self.first, slider), move.to) for slider in squares_of(sliders)):
            return 3
        return 4 if after & self.endangered else 0


def undefended(seen, squares):
    most = seen.stake(squares & ~seen.roles[K])
    return [0, 0, 3, 3, 4, 5][most] or min(2, squares.bit_count())


def indices(seen, line, memory, move):
    """Yields the tables and indices of a move."""
    r, origin, to = move.role, move.origin, move.to
    late = seen.phase // 2
    s, ply, occupied = 6 * late + r, len(line.played), seen.all
    pieces = [mask & seen.theirs for mask in seen.roles]
    victim = 0 if move.captured is None else move.captured + 1
    before = 0 if move.castles else attacks(r, origin, occupied)
    after = attacks(move.arrived, to, occupied & ~(1 << origin) | 1 << to)
    gained = after & ~before
    guards = seen.attackers(to, occupied) & seen.theirs
    guard = [1, 2, 2, 3, 4, 5][seen.least(guards)] if guards else 0
    backed = has(seen.u2 if has(before, to) else seen.u, to)
    support = 0 if not backed else 1 if has(seen.v2, to) else 2
    gain = WORTH[victim - 1] if victim else 0
    see = gain - (seen.see(to, occupied & ~(1 << origin), WORTH[r], THEY) if has(seen.v, to) else 0)
    safety = 0 if guard == 0 else 1 if see >= 0 else 2 if see >= -2 else 3
    taking = 0 if not victim else 3 if safety == 0 else 2 if gain >= WORTH[r] else 1
    outcome = sum(see >= limit for limit in (-4, -1, 0, 1, 2, 4))
    in_line = has(chess.ray(origin, seen.their_king), to)
    checks = has(after, seen.their_king) or (has(seen.blockers, origin) and not in_line)
    mirror = is_mirrored(line.board.turn)
    # The opponent's last move is seen from the other side.
    last = line.played[-1][0] if ply else None
    own = line.played[-2][0] if ply > 1 else None

    yield "Target", (6 * seen.phase + r) * 64 + to
    yield "Origin", s * 64 + origin
    yield "Exchange", (((6 * r + victim) * 6 + guard) * 3 + support) * 7 + outcome
    threats = bits(
        gained & seen.weak & pieces[P],
        gained & (pieces[N] | pieces[B]),
        gained & pieces[R],
        gained & pieces[Q],
        gained & seen.their_prise,
        gained & seen.our_prise,
        after & seen.zone,
    )
    yield "Threats", (128 * s + threats) * 2 + (safety > 1)
    if last:
        arrival = last.to ^ 56
        attacked = attacks(last.arrived, arrival, occupied, THEY)
        answer = bits(has(attacked, origin), has(after, arrival), to == last.origin ^ 56, to == arrival)
        yield "Reply", ((7 * r + last.arrived) * 2 + (last.captured is not None)) * 16 + answer
    else:
        yield "Reply", (7 * r + 6) * 2 * 16
    if own:
        arrivals = [earlier.to for earlier, _, _ in line.played[-2::-2]]
        yield "FollowUp", 64 * r + bits(
            own.to == origin,
            own.origin == to,
            own.captured is not None,
            victim,
            origin in arrivals,
            has(chess.between(origin, to), own.origin),
        )
    free = ~seen.ours & ~seen.by_pawns[THEY]
    mobility = (after & free).bit_count() - (before & free).bit_count()
    yield "Mobility", 16 * s + 7 + max(-7, min(8, mobility))
    distance = chess.square_distance
    yield "OurKing", (8 * r + distance(origin, seen.our_king)) * 8 + distance(to, seen.our_king)
    file, our_pawns = chess.BB_FILES[to & 7], seen.roles[P] & seen.ours
    beside = (file << 1 & ~chess.BB_FILE_A) | (file >> 1 & ~chess.BB_FILE_H)
    higher = chess.BB_ALL << (to | 7) + 1 & chess.BB_ALL
    others = our_pawns & ~(1 << origin)
    if r == P:
        yield "Pawn", (
            128 * late
            + bits(
                not pieces[P] & (file | beside) & higher,
                has(seen.by_pawns[WE], to) and has(seen.u2 if has(before, to) else seen.u, to),
                others & beside & chess.BB_RANKS[to >> 3],
                after & pieces[P],
                has(seen.by_pawns[THEY], to),
                others & file,
                has(occupied, to + 8),
            )
        ) * 6 + (to >> 3) - 2
    else:
        yield "Outpost", 64 * s + bits(
            our_pawns & file,
            pieces[P] & file,
            not pieces[P] & beside & higher,
            has(seen.by_pawns[WE], to),
            has(seen.by_pawns[THEY], to),
            has(seen.pinned, origin),
        )
    left = undefended(seen, seen.ours & before & seen.v & ~seen.u2 & ~after)
    rooks = straights(origin, occupied) & seen.roles[R] & seen.ours
    yield "Undefended", ((6 * s + left) * 2 + has(seen.blockers, origin)) * 2 + bool(rooks)
    forked = min(3, (seen.theirs & gained & seen.targets[move.arrived]).bit_count())
    yield "Fork", ((4 * r + forked) * 4 + safety) * 2 + (seen.their_stake > 1)
    yield "Ply", ((6 * min(2, ply) + r) * 4 + taking) * 2 + bool(checks)
    yield "EnPrise", ((7 * s + seen.our_stake) * 5 + seen.relief(move, after)) * 4 + taking
    if memory.lines:
        code, plies = move.code(mirror), memory.plies.get((ply & 1, move.code(mirror)), [])
        when = 0
        if plies:
            when = 1 if plies[-1] == ply else 2 if plies[-1] < ply else 3 if plies[-1] == ply + 2 else 4
        times = max(0, min(2, len(plies) - 1))
        yield "Repeated", ((3 * when + times) * 3 + min(2, ply)) * 2 + bool(victim)
        codes = [None, None, *line.codes()]
        same, counter, follow = (
            0 if latest is None else 2 if latest == code else 1
            for latest in (
                memory.board.get(line.hash),
                memory.countermove.get(codes[-1]) if last else None,
                memory.follow_up.get(codes[-2]) if own else None,
            )
        )
        yield "Continuation", ((3 * same + counter) * 3 + follow) * 5 + when


def score(seen, line, memory, move):
    total = 0
    for table, index in indices(seen, line, memory, move):
        assert 0 <= index < TABLES[table], f"{table} has no weight {index}"
        weight = WEIGHTS[STARTS[table] + index]
        total += weight - 256 if weight > 127 else weight
    return total


def ranked(line, memory, barred=()):
    """Returns the candidates by rank, each with its frequency."""
    seen = Seen(line.board)
    seen.terms()
    moves = [move for move in seen.legal() if move.order() not in barred]
    scores = {move: score(seen, line, memory, move) for move in moves}
    best = max(scores.values(), default=0)
    moves.sort(key=lambda move: (-scores[move], move.order()))
    return [(move, max(1, OCTAVE[best - scores[move] & 7] >> (best - scores[move] >> 3))) for move in moves]
