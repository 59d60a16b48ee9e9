"""Records of evaluations and their lines: FORMAT.md, sections 7 and 8."""

from bisect import bisect
from itertools import accumulate, chain, islice, repeat

from columns import BIG_COUNTS, COUNTS, SCORES, check, unzigzag
from model import Memory, ranked
from positions import fen_of

MATE = 2**31 + 32_767
STREAM = 28


def evaluations(columns, forest):
    """Returns the records of the positions of a block, as `shelfish export` prints them."""
    records = [{"fen": fen_of(node.board), "evals": scores(columns, node)} for node in forest]
    read_lines(columns, forest, records)
    return records


def scores(columns, node):
    """Returns the evaluations of a record, without lines."""
    evals, more = [], 1
    reference = node.parent.score if node.parent else 0
    while more:
        count, more = divmod(columns.octave(5, COUNTS), 2)
        depth = columns.octave(7 if evals else 6, COUNTS)
        depth = evals[0]["depth"] - depth if evals else depth
        knodes, score, pvs = columns.octave(8, BIG_COUNTS), reference, []
        for pv in range(count + 1):
            worse = columns.octave(10 if pv else 9, SCORES, signed=True)
            score += -worse if node.board.turn else worse
            pvs.append(mate_or_cp(score))
            if not evals and not pv:
                node.score = reference = score
        evals.append({"pvs": pvs, "knodes": knodes, "depth": depth})
    return evals


def mate_or_cp(score):
    if abs(score) < 2**31:
        return {"cp": score}
    mate = MATE - abs(score)
    check(1 <= mate <= 32_767, f"{score} is no score")
    return {"mate": mate if score > 0 else -mate}


def read_lines(columns, forest, records):
    """Adds the lines to the PVs of a block's records."""
    nibbles = iter([half for byte in columns.rest(15) for half in (byte & 15, byte >> 4)])
    stream, total = [], 0
    for node, record in zip(forest, records):
        pvs, shapes = [pv for entry in record["evals"] for pv in entry["pvs"]], []
        for line in range(len(pvs)):
            shared = columns.leb128(12) if line else 0
            source = columns.leb128(12) if shared and line > 1 else 0
            shapes.append((shared, source, columns.leb128(13)))
            total += shapes[line][2] - shared
        stream.append((node.board, pvs, shapes))
        total += 1
        if total >= STREAM or node is forest[-1]:
            size = total * 3 // 4 + unzigzag(columns.leb128(14))
            coded = list(islice(nibbles, size))
            check(len(coded) == size, "a stream is too long")
            read_stream(Decoder(coded), stream)
            stream, total = [], 0
    check(list(nibbles) in ([], [0]), "nibbles are left")


class Decoder:
    """The range decoder of a stream."""

    def __init__(self, nibbles):
        self.nibbles = chain(nibbles, repeat(0))
        self.range, self.code = 2**32 - 1, 0
        for _ in range(8):
            self.code = 16 * self.code + next(self.nibbles)

    def choose(self, frequencies):
        """Returns the number of the next move among candidates with these frequencies."""
        sums = list(accumulate(frequencies, initial=0))
        step = self.range // max(1, sums[-1])
        place = self.code // step
        check(place < sums[-1], "the stream has no move at its place")
        choice = bisect(sums, place) - 1
        self.code -= sums[choice] * step
        self.range = frequencies[choice] * step
        while self.range < 2**28:
            self.range, self.code = 16 * self.range, 16 * self.code + next(self.nibbles)
        return choice


def read_stream(decoder, records):
    """Reads the moves of the records of a stream. Lines are lists of moves."""
    past = []
    for board, pvs, shapes in records:
        memory, earlier = Memory(), []
        for line in rests(past, board):
            memory.remember(line)
        for pv, (shared, source, length) in zip(pvs, shapes):
            line = earlier[source][:shared] if shared else []
            check(len(line) == shared <= length, "a line has too few moves to share")
            begin = orders(line)
            others = [orders(other) for other in earlier if len(other) > shared]
            barred = {other[shared] for other in others if other[:shared] == begin}
            position = board.copy(stack=False)
            for move in line:
                position.push(move.real())
            while len(line) < length:
                moves, frequencies = ranked(position, line, memory, barred)
                line.append(moves[decoder.choose(frequencies)])
                position.push(line[-1].real())
                barred = ()
            earlier.append(line)
            memory.remember(line)
            pv["line"] = " ".join(move.real().uci() for move in line)
        past += [(board, line) for line in earlier]


def orders(line):
    return [move.order for move in line]


def rests(lines, board):
    """Yields the rests of the lines whose first moves lead to a board."""
    wanted = board.turn, board.board_fen()
    for start, line in lines:
        position = start.copy(stack=False)
        for count, move in enumerate(line[:4], 1):
            position.push(move.real())
            if (position.turn, position.board_fen()) == wanted:
                yield line[count:]
                break
