"""Records of moves: FORMAT.md, section 9.

Results are a list of five numbers for each bucket: White's wins, draws, Black's wins, games with a
rating, sum of their ratings.
"""

import functools
import string

from columns import BIG_COUNTS, check, unzigzag
from model import Memory, ranked
from positions import fen_of

BASE_62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
# Columns of the games of a bucket, of wins, draws and ratings: of step 1, and of the ways of games.
FIRST, LATER = (19, 7, 8, 22), (20, 14, 15, 23)


def sums(results):
    return [sum(bucket[n] for bucket in results) for n in range(3)]


def sizes(results):
    return [white + draws + black for white, draws, black, *_ in results]


def count(results):
    return sum(sizes(results))


def plus(results, others, sign=1):
    return [[a + sign * b for a, b in zip(*buckets)] for buckets in zip(results, others)]


@functools.lru_cache(1)
def ranking(node):
    """Returns the legal moves of a position by rank."""
    moves, _ = ranked(node.board, [], Memory())
    return [move.real() for move in moves]


def moves(columns, forest):
    """Returns the records of the positions of a block, as `shelfish export` prints them."""
    book = Book(columns)
    for node in forest:
        node.results, node.references = [[0] * 5] * max(1, book.buckets), []
    return [book.record(node) for node in forest]


class Book:
    """Reads the records of a block."""

    def __init__(self, columns):
        self.columns, self.has_details = columns, len(columns.columns) == 29
        layout = [columns.leb128(17) for _ in range(3)] if self.has_details else [0, 0, 0]
        self.buckets, self.has_ratings, self.references = layout

    def number(self, column):
        return self.columns.octave(column, BIG_COUNTS)

    def between(self, column, low, high):
        """A number is stored minus its minimum, unless minimum and maximum are equal."""
        number = low + self.number(column) if low < high else low
        check(number <= high, "a number is above its maximum")
        return number

    def results(self, games, rest, columns=LATER):
        most, results, left, later = sizes(rest), [], games, count(rest)
        some = [n for n, size in enumerate(most) if size]
        single = some[self.between(18, 0, len(some) - 1)] if games == 1 else None
        for n, bucket in enumerate(rest):
            later -= most[n]
            low, high = max(0, left - later), min(left, most[n])
            size = int(n == single) if games == 1 else self.between(columns[0], low, high)
            left -= size
            results.append(self.bucket(size, *bucket, columns) if size else [0] * 5)
        return results

    def bucket(self, games, a, b, c, in_rest, sum_in_rest, columns):
        """Reads the results of the games of a bucket. Its part of the rest is given."""
        white = self.between(columns[1], max(0, games - b - c), min(games, a))
        left = games - white
        draws = self.between(columns[2], max(0, left - c), min(left, b))
        rated = ratings = 0
        if self.has_ratings:
            most, least = min(games, in_rest), max(0, games - (a + b + c - in_rest))
            rated = most - self.between(21, 0, most - least)
            low = max(0, sum_in_rest - 4095 * (in_rest - rated))
            high = min(sum_in_rest, 4095 * rated)
            ratings = max(low, min(high, sum_in_rest // max(1, in_rest) * rated))
            if low < high:
                ratings += unzigzag(self.number(columns[3]))
            check(low <= ratings <= high, "a sum of ratings is out of range")
        return [white, draws, left - draws, rated, ratings]

    def read_references(self, games, known):
        """Takes the references that are known away from those of the step from the parent."""
        most, references = min(games, self.references), []
        for _ in range(most - self.between(24, 0, most)):
            place = self.between(25, 0, len(known)) if known else 0
            if place:
                references.append(known.pop(place - 1))
            else:
                high = self.columns.take(26, 1) + self.columns.take(27, 1)
                references.append(int.from_bytes(high + self.columns.take(28, 6)[::-1], "big"))
        return references

    def record(self, node):
        came, known, steps = node.results, list(node.references), node.steps
        games = self.number(6) if count(came) else self.number(5) + 1
        # Step 1 has a rest that bounds nothing, of games with an average rating of 1,600.
        unbounded = [[games * n for n in (2, 2, 2, 3, 3 * 1600)]] * len(came)
        first = self.results(games, unbounded, FIRST)
        rest, ended, moves, details = plus(came, first), [0, 0, 0], [], {}

        def way(games, move=None, child=None):
            """Reads a way of games: a move, which is the step to a child or not, or their end."""
            nonlocal rest, ended
            results = self.results(games, rest)
            rest = plus(rest, results, -1)
            references = self.read_references(games, known)
            if child:
                child.results, child.references = results, references
            if not games:
                return
            name = move.uci() if move else "end"
            buckets = {str(n): bucket for n, bucket in enumerate(results) if any(bucket)}
            details[name] = {
                "buckets": buckets if self.buckets else {},
                "games": list(map(reference, references)),
            }
            if move:
                order = -games, move.from_square, move.to_square, move.promotion or 0
                moves.append((order, name, sums(results)))
            else:
                ended = sums(results)

        if count(rest) == 1:
            number = self.number(9 if steps else 10)
            ways = [*((child.move, child) for child in steps), ()]
            other = number - len(ways)
            way(1, *([ranking(node)[other]] if other >= 0 else ways[number]))
        else:
            for child in steps:
                way(self.between(11, 0, count(rest)), child.move, child)
            way(self.between(12, 0, count(rest)))
            rank = -1
            while left := count(rest):
                rank += self.number(13) + 1
                way(1 + self.between(12, 0, left - 1), ranking(node)[rank])
        shown = {name: results for _, name, results in sorted(moves)}
        record = {"fen": fen_of(node.board), "ended": ended, "moves": shown}
        return {**record, "details": details} if self.has_details else record


def reference(number):
    """Returns game, rating and result of a reference."""
    facts, low = divmod(number, 2**48)
    rating, result, is_source, zero = facts >> 4, facts >> 2 & 3, facts & 2, facts & 1
    check(result < 3 and not zero, f"{number} is no reference")
    letters = "".join(BASE_62[low // 62**n % 62] for n in reversed(range(8)))
    game = f"{low >> 32}#{low % 2**32}" if is_source else letters
    return [game, rating, [int(result == n) for n in (2, 1, 0)]]
