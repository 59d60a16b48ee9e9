"""Sealed frames of columns: FORMAT.md, section 4. Numbers of columns."""

import zstandard
from xxhash import xxh64_intdigest as xxh64

CONTENT = 256 << 10


def check(condition, problem):
    if not condition:
        raise ValueError(problem)


class Bytes:
    """A column that is read from its beginning to its end."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        check(self.at + count <= len(self.data), "a column ends too early")
        self.at += count
        return self.data[self.at - count : self.at]

    def byte(self):
        return self.take(1)[0]

    def integer(self, count=4):
        return int.from_bytes(self.take(count), "little")

    def leb128(self):
        number = shift = 0
        while (byte := self.byte()) > 127:
            number, shift = number | (byte & 127) << shift, shift + 7
        return number | byte << shift

    def left(self):
        return len(self.data) - self.at


class Bits:
    """The column of low bits."""

    def __init__(self, column):
        self.number, self.count, self.length = int.from_bytes(column.data, "little"), 0, len(column.data)
        column.at = self.length

    def signed(self, column, d, l):
        symbol = column.byte()
        number = self.octave_of(symbol // 2, d, l)
        return -number if symbol % 2 else number

    def octave(self, column, d, l):
        return self.octave_of(column.byte(), d, l)

    def octave_of(self, symbol, d, l):
        if symbol < 1 << d:
            return symbol
        o, high = d + (symbol - (1 << d) >> l), symbol - (1 << d) & (1 << l) - 1
        check(o < 64, "an octave is above 2^64")
        low = self.number >> self.count & (1 << o - l) - 1
        self.count += o - l
        return ((1 << l) + high << o - l) + low

    def end(self):
        check(self.length == (self.count + 7) // 8 and not self.number >> self.count, "low bits are left")


def unzigzag(number):
    return number // 2 if number % 2 == 0 else -(number + 1) // 2


def unsealed(data):
    """Returns the columns of a sealed frame."""
    frame, seal = data[:-8], int.from_bytes(data[-8:], "little")
    check(xxh64(frame) == seal, "the seal differs")
    facts = zstandard.get_frame_parameters(frame)
    check(facts.content_size <= CONTENT and not facts.dict_id, "the frame has no content size, or a dictionary")
    content = Bytes(zstandard.ZstdDecompressor().decompress(frame))
    lengths = [content.leb128() for _ in range(content.leb128())]
    columns = [Bytes(content.take(length)) for length in lengths]
    check(not content.left(), "the frame does not end with its last column")
    return columns


def check_used(columns):
    left = [n for n, column in enumerate(columns) if column.left()]
    check(not left, f"columns {left} are not used up")
