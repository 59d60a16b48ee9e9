"""Records of evaluations: FORMAT.md, section 7, and the columns and streams of section 8."""

import model
from columns import Bits, check, unzigzag
from positions import fen_of

MATE = 2**31 + 32_767
STREAM = 24


def evaluations(columns, forest, totals):
    """Returns the records of the positions of a block, as `shelfish export` prints them."""
    numbers, first_depth, shallower, knodes, firsts, later, low = columns[5:12]
    check(len(columns) == 16, "a block of evaluations has 16 columns")
    bits, records = Bits(low), []
    for node in forest:
        evals, more, reference = [], 1, node.parent.score if node.parent else 0
        while more:
            count, more = divmod(bits.octave(numbers, 6, 3), 2)
            depth = evals[0]["depth"] - bits.octave(shallower, 6, 3) if evals else bits.octave(first_depth, 6, 3)
            evals.append({"pvs": [], "knodes": bits.octave(knodes, 4, 2), "depth": depth})
            score = reference
            for pv in range(count + 1):
                worse = bits.signed(later if pv else firsts, 2, 1)
                score += -worse if node.board.turn else worse
                evals[-1]["pvs"].append(mate_or_cp(score))
                if pv == 0 and len(evals) == 1:
                    node.score = reference = score
        order = [(-e["depth"], -len(e["pvs"]), -e["knodes"]) for e in evals]
        check(order == sorted(order), "the evaluations are not in order")
        records.append({"fen": fen_of(node.board), "evals": evals})
    bits.end()
    pvs = [[pv for entry in record["evals"] for pv in entry["pvs"]] for record in records]
    shapes = [line_shapes(columns[12], columns[13], len(some)) for some in pvs]
    streams = Streams(*columns[14:], [sum(length - shared for shared, _, length in shape) for shape in shapes])
    for node, some, shape in zip(forest, pvs, shapes):
        for pv, line in zip(some, read_lines(streams, node.board, shape)):
            pv["line"] = line
    check(streams.at == len(streams.nibbles) or streams.nibbles[streams.at :] == [0], "nibbles are left")
    totals["evaluations"] += sum(len(record["evals"]) for record in records)
    totals["pvs"] += sum(map(len, pvs))
    return records


def mate_or_cp(score):
    if abs(score) <= 2**31 - 1:
        return {"cp": score}
    mate = MATE - abs(score)
    check(1 <= mate <= 32_767, "no score")
    return {"mate": mate if score > 0 else -mate}


def line_shapes(sources, lengths, count):
    """Returns the number of shared moves, the source and the length of each line of a record."""
    shapes = []
    for n in range(count):
        shared = sources.leb128() if n else 0
        source = sources.leb128() if shared and n > 1 else 0
        shapes.append((shared, source, lengths.leb128()))
        check(not shared or source < n and shared <= shapes[source][2], "a source has too few moves")
        check(shared <= shapes[n][2], "more shared moves than moves")
    check(sum(length for _, _, length in shapes) <= 4096, "a record has more than 4,096 moves")
    return shapes


class Streams:
    """The coded moves of a block. `moves` has for each record the number of its moves that are not shared."""

    def __init__(self, sizes, column, moves):
        self.sizes = sizes
        self.nibbles = [half for byte in column.take(column.left()) for half in (byte & 15, byte >> 4)]
        self.sums, self.at = [], 0
        for count in moves:
            if not self.sums or self.sums[-1] >= STREAM:
                self.sums.append(0)
            self.sums[-1] += 1 + count
        self.done = STREAM

    def begin_record(self, moves):
        if self.done >= STREAM:
            self.done, self.lines, u = 0, [], self.sums.pop(0) * 3 // 4
            size = u + unzigzag(self.sizes.leb128())
            check(0 <= size <= len(self.nibbles) - self.at, "the size of a stream is wrong")
            self.rest = iter(self.nibbles[self.at : self.at + size])
            self.at += size
            self.range, self.code = 2**32 - 1, 0
            for _ in range(8):
                self.code = 16 * self.code + next(self.rest, 0)
        self.done += 1 + moves

    def move(self, candidates):
        total = sum(frequency for _, frequency in candidates)
        r = self.range // max(1, total)
        p, s = self.code // r, 0
        for move, frequency in candidates:
            if p < s + frequency:
                break
            s += frequency
        check(p < total, "the stream has no move at its place")
        self.code, self.range = self.code - s * r, frequency * r
        while self.range < 2**28:
            self.range, self.code = 16 * self.range, 16 * self.code + next(self.rest, 0)
        return move


def read_lines(streams, board, shapes):
    """Returns the lines of a record."""
    streams.begin_record(sum(length - shared for shared, _, length in shapes))
    memory, earlier, cost = model.Memory(), [], 0
    for line in filter(None, [line.rest(board) for line in streams.lines]):
        memory.remember(line)
    for shared, source, length in shapes:
        line = model.Line(board)
        for move, _, _ in earlier[source].played[:shared] if shared else []:
            line.play(move)
        orders = [[move.order() for move, _, _ in other.played] for other in [line, *earlier]]
        barred = {other[shared] for other in orders[1:] if len(other) > shared and other[:shared] == orders[0]}
        for ply in range(shared, length):
            candidates = model.ranked(line, memory, barred if ply == shared else ())
            cost += 32 + len(candidates) + (len(barred) if ply == shared else 0)
            line.play(streams.move(candidates))
        earlier.append(line)
        memory.remember(line)
    check(cost <= 131_072, "the moves of a record cost too much")
    streams.lines += earlier
    return [" ".join(move.name(mirror) for move, mirror, _ in line.played) for line in earlier]
