"""Records of moves: FORMAT.md, section 9.

Results are a list of five numbers for each bucket: White's wins, draws, Black's wins, games with a rating, sum of their ratings.
"""

import model
from columns import Bits, Bytes, check, unzigzag
from positions import Node, fen_of

BASE_62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def count(results):
    return sum(sum(bucket[:3]) for bucket in results)


def plus(results, others, sign=1):
    sums = [[a + sign * b for a, b in zip(*buckets)] for buckets in zip(results, others)]
    check(min(map(min, sums)) >= 0, "more games than the rest has")
    return sums


class Book:
    """The columns of a block."""

    def __init__(self, columns, info, totals):
        self.has_details = len(columns) == 29
        check(self.has_details or len(columns) == 17, "a block of moves has 17 or 29 columns")
        self.columns, self.totals, self.bits = columns, totals, Bits(columns[16])
        layout = columns[17] if self.has_details else Bytes(bytes(3))
        buckets, self.rated, self.references = (layout.leb128() for _ in range(3))
        self.is_divided, self.buckets = buckets > 0, max(1, buckets)
        check(buckets <= 64 and self.rated <= (buckets > 0) and self.references <= 16, "the layout is too large")
        check(not self.has_details or buckets or self.references, "an empty layout")
        check(not self.rated or "average_ratings" in info, "ratings, but not in the manifest")
        check(self.references <= int(info.get("game_ids", 0)), "more references than the manifest allows")

    def number(self, column):
        return self.bits.octave(self.columns[column], 4, 2)

    def between(self, column, low, high):
        """A number that is stored minus its minimum, unless minimum and maximum are equal."""
        number = low + self.number(column) if low < high else low
        check(number <= high, "a number is above its maximum")
        return number

    def results(self, g, rest):
        """Reads the results of games. `rest` is None in step 1."""
        results = [[0] * 5 for _ in range(self.buckets)]
        in_rest = [sum(bucket[:3]) for bucket in rest] if rest else [g] * self.buckets
        some = [bucket for bucket in range(self.buckets) if in_rest[bucket]]
        if g == 1:
            chosen = some[self.between(18, 0, len(some) - 1)]
            results[chosen] = self.bucket(1, rest and rest[chosen])
        elif g:
            left = g
            for bucket in range(self.buckets):
                later = sum(in_rest[bucket + 1 :])
                low, high = max(0, left - later), min(left, in_rest[bucket])
                n = self.between(20 if rest else 19, low, high)
                left -= n
                if n:
                    results[bucket] = self.bucket(n, rest and rest[bucket])
            check(not left, "the buckets lack games")
        return results

    def bucket(self, g, rest):
        a, b, c, n, s = rest or (g, g, g, g, 0)
        total = a + b + c if rest else 2 * g
        white = self.between(14 if rest else 7, max(0, g - b - c), min(g, a))
        h = g - white
        draws = self.between(15 if rest else 8, max(0, h - c), min(h, b))
        rated = ratings = 0
        if self.rated:
            most, least = min(g, n), max(0, g - (total - n))
            rated = most - self.between(21, 0, most - least)
            low, high = (max(0, s - 4095 * (n - rated)), min(s, 4095 * rated)) if rest else (0, 4095 * rated)
            expected = s // max(n, 1) * rated if rest else 1600 * rated
            ratings = max(low, min(high, expected))
            ratings += unzigzag(self.number(23 if rest else 22)) if low < high else 0
            check(low <= ratings <= high, "a sum of ratings is out of range")
        return [white, draws, h - draws, rated, ratings]

    def read_references(self, g, inherited):
        """Reads the references of a way of g games. Takes those that are known away from the step's."""
        most, references = min(g, self.references), []
        for _ in range(most - self.between(24, 0, most)):
            place = self.number(25) if inherited else 0
            check(place <= len(inherited), "no reference has this place")
            high, low = self.columns[26:28], self.columns[28]
            new = place or (high[0].byte() << 56 | high[1].byte() << 48 | low.integer(6))
            references.append(inherited.pop(place - 1) if place else new)
        check(references == sorted(set(references), reverse=True), "references do not descend")
        return references

    def records(self, forest):
        """Returns the records of the positions, as `shelfish export` prints them."""
        for node in forest:
            node.results, node.references = [[0] * 5] * self.buckets, []
        records = [self.shown(node, self.ways(node)) for node in forest]
        self.bits.end()
        return records

    def ways(self, node):
        """Reads the ways of a position's games: a node, "end" or a rank; its results and references."""
        came, steps, ways, inherited = count(node.results), node.steps, [], list(node.references)
        rest = plus(node.results, self.results(self.number(6) if came else self.number(5) + 1, None))

        def read(way, g, results=None):
            nonlocal rest
            results = results or self.results(g, rest)
            rest = plus(rest, results, -1)
            ways.append((way, results, self.read_references(g, inherited) if g else []))

        if count(rest) == 1:
            way = self.number(9 if steps else 10)
            read([*steps, "end"][way] if way <= len(steps) else way - len(steps) - 1, 1, rest)
            return ways
        for child in steps:
            read(child, self.between(11, 0, count(rest)))
        read("end", self.between(12, 0, count(rest)))
        rank = -1
        while count(rest):
            rank += self.number(13) + 1
            read(rank, 1 + self.between(12, 0, count(rest) - 1))
        return ways

    def shown(self, node, ways):
        record, details, mirror = (
            {"fen": fen_of(node.board), "ended": [0, 0, 0]},
            {},
            model.is_mirrored(node.board.turn),
        )
        ranks, moves = [], []
        for way, results, references in ways:
            if way == "end":
                record["ended"] = self.sums(results)
            if not count(results):
                continue
            if isinstance(way, Node):
                way.results, way.references = results, references
                legal = model.Seen(node.board).legal()
                found = [move for move in legal if move.squares(mirror) == way.move and not move.promotion]
                check(found, "a step is not a legal move")
            elif way != "end":
                ranks = ranks or [move for move, _ in model.ranked(model.Line(node.board), model.Memory())]
                found = ranks[way : way + 1] if way <= 510 else []
                check(found, "no legal move has this rank")
            name = "end" if way == "end" else found[0].name(mirror)
            check(name not in details, "a move occurs twice")
            buckets = {str(n): bucket for n, bucket in enumerate(results) if sum(bucket) and self.is_divided}
            details[name] = {"buckets": buckets, "games": list(map(reference, references))}
            if way != "end":
                moves.append((-count(results), *found[0].squares(mirror), found[0].promotion, name, self.sums(results)))
        self.totals["moves"] += len(moves)
        record["moves"] = {name: sums for *_, name, sums in sorted(moves)}
        return {**record, "details": details} if self.has_details else record

    def sums(self, results):
        return [sum(bucket[n] for bucket in results) for n in range(3)]


def reference(number):
    rating, result, is_source, low = number >> 52, number >> 50 & 3, number >> 49 & 1, number & (1 << 48) - 1
    check(result < 3 and not number >> 48 & 1, "no reference")
    check(is_source or low < 62**8, "no id of a game")
    letters = "".join(BASE_62[low // 62**n % 62] for n in range(7, -1, -1))
    game = f"{low >> 32}#{low & 0xFFFFFFFF}" if is_source else letters
    return [game, rating, [int(result == n) for n in (2, 1, 0)]]
