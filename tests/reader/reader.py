"""Reads a Shelfish database as FORMAT.md describes it. The numbers of sections and columns are those of the text.

    python reader.py DATABASE [sha256-HASH]

prints the records as `shelfish export` does, and checks everything that the text says of the files.
"""

import base64
import hashlib
import json
import pathlib
import sys

import chess
import zstandard
from xxhash import xxh64_intdigest as xxh64

import model

FORMAT = 2
PAGE, BLOCK, CONTENT = 266_240, 266_240, 256 << 10
FILES = [3, 4, 2, 5, 1, 6, 0, 7]
KINDS = [(role, side) for role in (chess.QUEEN, chess.ROOK, chess.BISHOP, chess.KNIGHT) for side in (True, False)]
KINGS = [(chess.KING, True), (chess.KING, False)]
MATE = 2**31 + 32_767


def check(condition, problem):
    if not condition:
        raise ValueError(problem)


def name(move):
    """A move in UCI, castling as "king takes own rook"."""
    move, mirror = move[0], move[1]
    squares = chess.SQUARE_NAMES[move.origin ^ mirror] + chess.SQUARE_NAMES[move.target ^ mirror]
    return squares + (chess.piece_symbol(move.promotion) if move.promotion else "")


# Sections 1 and 2


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
    check_legal(board)
    return board


def is_en_passant(board):
    return board._valid_ep_square() is not None and board.has_legal_en_passant()


def check_legal(board):
    check(all(chess.popcount(board.kings & board.occupied_co[side]) == 1 for side in (True, False)), "not one king a side")
    check(not board.pawns & chess.BB_BACKRANKS, "a pawn on the first or last rank")
    check(not board.was_into_check(), "the side that is not to move is in check")


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


def key(board):
    pawns = sum(file_code(board, file) << 10 * (7 - n) for n, file in enumerate(FILES))
    pieces = [list(chess.scan_forward(board.pieces_mask(*kind))) for kind in KINDS]
    material = sum(len(squares) << 6 * (7 - n) for n, squares in enumerate(pieces))
    kings = [board.king(True), board.king(False)]
    castling = [bitmap(board.castling_rights & row) for row in (chess.BB_RANK_1, chess.BB_RANK_8)]
    en_passant = 0 if board.ep_square is None else chess.square_file(board.ep_square) + 1
    end = [not board.turn, *castling, en_passant]
    return pawns.to_bytes(10, "big") + material.to_bytes(6, "big") + bytes(kings + sum(pieces, []) + end)


# Section 4


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

    def octave(self, column, d, l):
        symbol = column.byte()
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


# Sections 3 and 5


def unbased(text):
    check("=" not in text, "Base64 has padding")
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def hash_of(data):
    return hashlib.sha256(data).digest()[:16]


class Database:
    def __init__(self, folder, pin=None):
        self.folder = pathlib.Path(folder)
        data = (self.folder / "manifest.json").read_bytes()
        check(pin in (None, "sha256-" + hashlib.sha256(data).hexdigest()), "the manifest is not the pinned one")
        check(len(data) <= 8 << 20, "the manifest is above 8 MiB")
        start, checksum = data[:-32], data[-32:]
        check(data.startswith(b'{"format":%d,' % FORMAT), "another format")
        check(checksum == b',"checksum":"%016x"}\n' % xxh64(start), "the checksum of the manifest differs")
        self.manifest = manifest = json.loads(data)
        plain = json.dumps(manifest, separators=(",", ":"), ensure_ascii=False) + "\n"
        check(plain.encode() == data, "the manifest has white space")
        members = ["format", "records", "positions", "totals", "info", "shards", "checksum"]
        check(list(manifest) == members, f"the manifest has members {list(manifest)}")
        self.is_book = {"evaluations": False, "moves": True}[manifest["records"]]
        self.info, self.totals = manifest["info"], dict.fromkeys(manifest["totals"], 0)
        check(list(self.totals) == (["moves"] if self.is_book else ["evaluations", "pvs"]), "other totals")
        self.files = {}

    def file(self, file):
        if file not in self.files:
            data = (self.folder / file).read_bytes()
            check(file == hash_of(data).hex() + ".silo", f"{file} has another content")
            self.files[file] = data
        return self.files[file]

    def records(self):
        """Yields the board and the record of each position, in the order of the keys."""
        used, blocks, positions = {}, self.blocks(), 0
        block = next(blocks)
        before = b""
        while block:
            following = next(blocks, None)
            separator, data, file = block
            check(separator == b"" or separator > before, "a separator is not above the keys before it")
            entries = sorted(self.decode(data, separator, following and following[0]), key=lambda entry: entry[0])
            first = entries[0][0]
            check(first >= separator, "a key is below its separator")
            shortest = next(n for n in range(len(first) + 1) if first[:n] > before) if before else 0
            check(separator == first[:shortest], "a separator is not the shortest")
            for number, board, record in entries:
                check(number > before, "the keys of a database do not ascend")
                before = number
                yield record
            check(not following or before < following[0], "a key is not below the next separator")
            count, size = used.get(file, (0, 0))
            used[file] = count + len(entries), size + len(data)
            positions += len(entries)
            block = following
        check(positions == self.manifest["positions"], "the manifest has another number of positions")
        check(self.totals == self.manifest["totals"], f"the manifest has other totals than {self.totals}")
        for shard in self.manifest["shards"]:
            count, size = used.pop(shard["file"], (0, 0))
            check(count == shard["positions"], f"{shard['file']} has {count} positions in use")
            check(shard.get("live", size) == size, f"{shard['file']} has {size} bytes in use")
        check(not used, f"the manifest lacks shards {used}")

    def blocks(self):
        """Yields separator, bytes and file of each block."""
        last = None
        inline = {"carried" in shard for shard in self.manifest["shards"] if shard["pages"]}
        check(len(inline) == 1, "some pages are inline, and others are not")
        for shard in self.manifest["shards"]:
            data = self.file(shard["file"])
            check(len(data) == shard["bytes"], f"{shard['file']} has another size")
            check(bool(shard["pages"]) != ("live" in shard), "a shard has pages or `live`")
            pages = [(bytes.fromhex(s), length, unbased(text)) for s, length, text in shard["pages"]]
            at = start = len(data) - sum(length for _, length, _ in pages)
            carried = unbased(shard["carried"]) if "carried" in shard else data[start:]
            check(carried == data[start:], "the inline pages are not the end of the file")
            lists_end = None
            for separator, length, page_hash in pages:
                check(separator == b"" if last is None else separator > last, "separators of pages do not ascend")
                last = separator
                page = data[at : at + length]
                at += length
                check(length <= PAGE and hash_of(page) == page_hash, "a page has another hash")
                for block_separator, block, file, span in self.page(page, separator, shard["file"], start):
                    check(block_separator == separator or block_separator > last, "separators of blocks do not ascend")
                    last = block_separator
                    yield block_separator, block, file
                check(lists_end in (None, span[0]), "the lists of hashes do not follow one another")
                lists_end = span[1]
            check(lists_end in (None, start), "the lists of hashes do not end before the pages")

    def page(self, data, separator, own, start):
        """Yields the blocks of a leaf page: separator, bytes, file, and the place of the list of hashes."""
        columns = unsealed(data)
        check(len(columns) == 10, "a page has ten columns")
        common, rest, separators, symbols, low, runs, numbers, gaps, others, hashes = columns
        bits, names = Bits(low), [own]
        while others.left():
            names.append(others.take(16).hex() + ".silo")
        offset = hashes.leb128()
        count = len(common.data)
        length = 16 * count
        listed = self.file(own)[offset : offset + length]
        check(hash_of(listed) == hashes.take(16), "a list of hashes has another hash")
        ends, before, block_hashes = {}, b"", Bytes(listed)
        while runs.left():
            blocks, file = runs.leb128(), names[numbers.leb128()]
            at = ends.get(file, 0) + gaps.leb128()
            check(blocks > 0, "a run without blocks")
            for _ in range(blocks):
                before = before[: common.byte()] + separators.take(rest.byte())
                size = bits.octave(symbols, 5, 3)
                block = self.file(file)[at : at + size]
                check(size <= BLOCK and (file != own or at + size <= start), "a block is too long")
                check(hash_of(block) == block_hashes.take(16), "a block has another hash")
                at += size
                yield before, block, file, (offset, offset + length)
            ends[file] = at
        bits.end()
        check_used(columns)

    def decode(self, data, low, high):
        """Returns key, board and record of each position of a block."""
        columns = unsealed(data)
        forest = positions(columns)
        check(1 <= len(forest) <= 8192, "a block has 1 to 8,192 positions")
        keys = [key(node.board) for node in forest]
        check(keys[0] >= low and (high is None or keys[0] < high), "the first position is outside of the block")
        for node in forest:
            check_legal(node.board)
            check(node.board.castling_rights == node.board.clean_castling_rights(), "a castling right is not canonical")
            check(node.board.ep_square is None or is_en_passant(node.board), "an en-passant square is not canonical")
        if self.is_book:
            records = Book(columns, self.info, self.totals).records(forest)
        else:
            records = evaluations(columns, forest, self.totals)
        check_used(columns)
        return zip(keys, (node.board for node in forest), records)


# Section 6


class Node:
    def __init__(self, board, parent=None, move=None):
        self.board, self.parent, self.move, self.steps = board, parent, move, []
        if parent:
            parent.steps.append(self)


def targets(board, origin):
    """The squares to which a piece may step."""
    side, own, piece = board.turn, board.occupied_co[board.turn], board.piece_type_at(origin)
    if piece == chess.PAWN:
        ahead = [origin + 8, origin + 16] if side else [origin - 8, origin - 16]
        found = board.attacks_mask(origin) & board.occupied_co[not side]
        if not chess.BB_SQUARES[ahead[0]] & board.occupied:
            found |= chess.BB_SQUARES[ahead[0]]
            if chess.square_rank(origin) == (1 if side else 6) and not chess.BB_SQUARES[ahead[1]] & board.occupied:
                found |= chess.BB_SQUARES[ahead[1]]
        return found & ~chess.BB_BACKRANKS
    found = board.attacks_mask(origin) & ~own
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
    """Columns 3 to 14. Each root is coded by its differences from the previous one."""

    def __init__(self, columns):
        self.columns = columns
        self.codes, self.counts, self.squares = dict.fromkeys(FILES, 0), dict.fromkeys(KINDS, 0), {}

    def next(self):
        flags, more, files, low, high, kinds, counts, *squares = self.columns
        flag, board = flags.byte(), chess.Board(None, chess960=True)
        board.turn = not flag & 1
        corners = [chess.A1, chess.H1, chess.A8, chess.H8]
        board.castling_rights = sum(chess.BB_SQUARES[s] for n, s in enumerate(corners) if flag >> n + 1 & 1)
        if flag & 32:
            board.castling_rights = more.byte() | more.byte() << 56
        if flag & 64:
            board.ep_square = chess.square(more.byte(), 5 if board.turn else 2)
        changed = files.byte()
        for n, file in enumerate(FILES):
            if changed >> n & 1:
                self.codes[file] = low.byte() | high.byte() << 8
            code = self.codes[file]
            for rank in range(6, 0, -1):
                code, digit = divmod(code, 3)
                if digit:
                    board.set_piece_at(8 * rank + file, chess.Piece(chess.PAWN, digit == 1))
            check(code == 0, "a file code is too large")
        changed = kinds.byte()
        for n, kind in enumerate(KINDS):
            if changed >> n & 1:
                self.counts[kind] = counts.byte()
        for (role, side), count in [*zip(KINGS, (1, 1)), *self.counts.items()]:
            column = squares[chess.KING - role]
            memory = self.squares.setdefault((role, side), [])
            for n in range(count):
                number = column.byte()
                if number:
                    memory[n : n + 1] = [number - 1 if side else number - 1 ^ 56]
                check(n < len(memory) and board.piece_at(memory[n]) is None, "two pieces on a square")
                board.set_piece_at(memory[n], chess.Piece(role, side))
        return Node(board)


def positions(columns):
    links, pieces, squares = columns[:3]
    roots, path, nodes = Roots(columns[3:15]), [], []
    while links.left():
        link = links.byte()
        check(link <= len(path), "a link leads beyond the path")
        del path[len(path) - link + 1 if link else 0 :]
        path.append(step(path[-1], pieces.byte(), squares.byte()) if link else roots.next())
        nodes.append(path[-1])
    check_used(columns[:15])
    return nodes


# Sections 7 and 8


def evaluations(columns, forest, totals):
    """Returns the records of the positions of a block, as `shelfish export` prints them."""
    number, first_pvs, pvs, depth, shallower, knodes, root, child, worse, later, low = columns[15:26]
    check(len(columns) == 33, "a block of evaluations has 33 columns")
    bits, lines, records, moves = Bits(low), columns[26:], [], 0
    for node in forest:
        evals, record = [], {"fen": fen_of(node.board), "evals": []}
        for n in range(bits.octave(number, 5, 3) + 1):
            count = bits.octave(pvs if n else first_pvs, 5, 3) + 1
            deep = bits.octave(shallower, 5, 3) if n else bits.octave(depth, 5, 3)
            deep = record["evals"][0]["depth"] - deep if n else deep
            kilonodes = bits.octave(knodes, 4, 2)
            scores = []
            for pv in range(count):
                column = worse if pv else later if n else child if node.parent else root
                change = unzigzag(bits.octave(column, 6, 2))
                if pv:
                    scores.append(scores[-1] + (-change if node.board.turn else change))
                else:
                    scores.append(change + (node.score if n else node.parent.score if node.parent else 0))
                if not n and not pv:
                    node.score = scores[0]
            evals.append((deep, scores))
            record["evals"].append({"pvs": scores, "knodes": kilonodes, "depth": deep})
        order = [(-e["depth"], -len(e["pvs"]), -e["knodes"]) for e in record["evals"]]
        check(order == sorted(order), "the evaluations are not in order")
        records.append((node.board, record, evals))
    bits.end()
    shapes = [line_shapes(lines, evals) for _, _, evals in records]
    streams = Streams(lines[5:], [[length - shared for shared, _, length in shape] for shape in shapes])
    for (board, record, evals), shape in zip(records, shapes):
        totals["evaluations"] += len(evals)
        totals["pvs"] += len(shape)
        check(sum(length for _, _, length in shape) <= 4096, "a record has more than 4,096 moves")
        texts = iter(read_lines(streams, board, shape))
        for entry, (_, scores) in zip(record["evals"], evals):
            entry["pvs"] = [{**mate_or_cp(score), "line": next(texts)} for score in scores]
    check(streams.at == len(streams.nibbles) or streams.nibbles[streams.at :] == [0], "nibbles are left")
    return [record for _, record, _ in records]


def mate_or_cp(score):
    if abs(score) <= 2**31 - 1:
        return {"cp": score}
    mate = MATE - abs(score)
    check(1 <= mate <= 32_767, "no score")
    return {"mate": mate if score > 0 else -mate}


def line_shapes(columns, evals):
    """Returns the number of shared moves, the source and the length of each line of a record."""
    first, further, sources, shallow, deep = columns[:5]
    shapes = []
    for depth, scores in evals:
        for pv in range(len(scores)):
            shared = (further if pv else first).leb128() if shapes else 0
            source = sources.leb128() if shared and len(shapes) > 1 else 0
            length = (shallow if depth <= 8 else deep).leb128()
            check(not shared or source < len(shapes) and shared <= shapes[source][2], "a source has too few moves")
            check(shared <= length, "more shared moves than moves")
            shapes.append((shared, source, length))
    return shapes


class Streams:
    """The coded moves of a block. `moves` has for each record the moves of its lines that are not shared."""

    def __init__(self, columns, moves):
        self.sizes, column = columns
        self.nibbles = [half for byte in column.take(column.left()) for half in (byte & 15, byte >> 4)]
        self.sums, self.at = [], 0
        for n, lines in enumerate(moves):
            if n == 0 or self.sums[-1] >= 24:
                self.sums.append(0)
            self.sums[-1] += 1 + sum(lines)
        self.done = 24

    def begin_record(self, moves):
        if self.done >= 24:
            self.done, u = 0, self.sums.pop(0) * 3 // 4
            self.lines = []
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


def rest(board, line):
    """Returns the rest of a line from the board on, if its first moves lead there."""
    at = model.Line(line.start)
    for n, (move, _, _) in enumerate(line.played[:4], 1):
        at.play(move)
        if at.board.turn == board.turn and at.board.board_fen() == board.board_fen():
            at = model.Line(at.board)
            for following, _, _ in line.played[n:]:
                at.play(following)
            return at
    return None


def read_lines(streams, board, shapes):
    """Returns the lines of a record."""
    streams.begin_record(sum(length - shared for shared, _, length in shapes))
    memory, earlier, cost = model.Memory(), [], 0
    for line in filter(None, [rest(board, line) for line in streams.lines]):
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
    return [" ".join(map(name, line.played)) for line in earlier]


# Section 9

SPEEDS_ID = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class Games:
    """Games of one bucket: White's wins, draws, Black's wins, games with a rating, sum of their ratings."""

    def __init__(self, white=0, draws=0, black=0, rated=0, ratings=0):
        self.numbers = [white, draws, black, rated, ratings]

    def count(self):
        return sum(self.numbers[:3])


def count(results):
    return sum(games.count() for games in results)


def plus(results, others, sign=1):
    sums = [Games(*(a + sign * b for a, b in zip(x.numbers, y.numbers))) for x, y in zip(results, others)]
    check(all(n >= 0 for games in sums for n in games.numbers), "more games than the rest has")
    return sums


class Book:
    def __init__(self, columns, info, totals):
        check(len(columns) in (27, 39), "a block of moves has 27 or 39 columns")
        self.columns, self.totals, self.bits = columns, totals, Bits(columns[26])
        layout = columns[27] if len(columns) == 39 else Bytes(bytes(3))
        self.has_details = len(columns) == 39
        self.buckets, self.rated, self.references = (layout.leb128() for _ in range(3))
        check(self.buckets <= 64 and self.rated <= 1 and self.references <= 16, "the layout is too large")
        check(not self.has_details or self.buckets or self.references, "an empty layout")
        check(self.rated <= ("average_ratings" in info), "ratings, but not in the manifest")
        check(self.references <= int(info.get("game_ids", 0)), "more references than the manifest allows")

    def number(self, column):
        return self.bits.octave(self.columns[column], 4, 2)

    def between(self, column, low, high):
        """A number that is stored minus its minimum, unless minimum and maximum are equal."""
        number = low + self.number(column) if low < high else low
        check(number <= high, "a number is above its maximum")
        return number

    def games(self, g, rest, first):
        """Reads the results of games. `rest` is None in step 1."""
        buckets = max(1, self.buckets)
        results = [Games() for _ in range(buckets)]
        if not g:
            return results
        in_rest = [games.count() for games in rest] if rest else [g] * buckets
        if buckets == 1:
            counts = [g]
        elif g == 1:
            some = [bucket for bucket in range(buckets) if in_rest[bucket]]
            chosen = some[self.between(28, 0, len(some) - 1)]
            counts = [int(bucket == chosen) for bucket in range(buckets)]
        else:
            counts = None
        left = g
        for bucket in range(buckets):
            if counts:
                n = counts[bucket]
            elif rest:
                later = sum(in_rest[bucket + 1 :])
                n = self.between(30, max(0, left - later), min(left, in_rest[bucket]))
            else:
                n = self.between(29, left if bucket == buckets - 1 else 0, left)
            left -= n
            if n:
                results[bucket] = self.bucket(n, rest[bucket] if rest else None, first)
        check(not left, "the buckets lack games")
        return results

    def bucket(self, g, rest, first):
        a, b, c, n, s = rest.numbers if rest else (g, g, g, g, 0)
        total = rest.count() if rest else 2 * g
        wins, draws = (17, 18) if first else (24, 25)
        white = self.between(wins, max(0, g - b - c), min(g, a))
        h = g - white
        drawn = self.between(draws, max(0, h - c), min(h, b))
        if not self.rated:
            return Games(white, drawn, h - drawn)
        most, least = min(g, n), max(0, g - (total - n))
        m = most - self.between(31, 0, most - least)
        low, high = (max(0, s - 4095 * (n - m)), min(s, 4095 * m)) if rest else (0, 4095 * m)
        expected = s // n * m if rest and n else 0 if rest else 1600 * m
        ratings = max(low, min(high, expected))
        if low < high:
            ratings += unzigzag(self.number(32 if first else 33))
        check(low <= ratings <= high, "a sum of ratings is out of range")
        return Games(white, drawn, h - drawn, m, ratings)

    def game_references(self, g, inherited):
        """Reads the references of a way of g games. Takes those of the step from the parent away."""
        count = min(g, self.references)
        count -= self.between(34, 0, count)
        references = []
        for _ in range(count):
            place = self.number(35) if inherited else 0
            check(place <= len(inherited), "no reference has this place")
            if place:
                references.append(inherited.pop(place - 1))
            else:
                high, next_byte, low = self.columns[36].byte(), self.columns[37].byte(), self.columns[38].integer(6)
                references.append(high << 56 | next_byte << 48 | low)
        check(references == sorted(set(references), reverse=True), "references do not descend")
        return references

    def records(self, forest):
        for node in forest:
            node.games, node.references = None, []
        records = [self.record(node) for node in forest]
        self.bits.end()
        return records

    def record(self, node):
        came = node.games and count(node.games)
        new = self.number(16) if came else self.number(15) + 1
        games = self.games(new, None, True)
        games = plus(games, node.games) if came else games
        total, inherited = count(games), list(node.references)
        ranks, ways = None, []
        if total == 1:
            way = self.number(19 if node.steps else 20)
            if way < len(node.steps):
                ways.append((node.steps[way], games))
            elif way == len(node.steps):
                ways.append(("end", games))
            else:
                ways.append((way - len(node.steps) - 1, games))
            ways = [(way, games, self.game_references(1, inherited)) for way, games in ways]
        else:
            rest = games

            def read(way, g):
                nonlocal rest
                results = self.games(g, rest, False)
                rest = plus(rest, results, -1)
                ways.append((way, results, self.game_references(g, inherited) if g else []))

            for child in node.steps:
                read(child, self.between(21, 0, count(rest)) if count(rest) else 0)
            read("end", self.number(22) if count(rest) else 0)
            rank = -1
            while count(rest):
                rank += self.number(23) + 1
                read(rank, 1 + (self.number(22) if count(rest) > 1 else 0))
        return self.shown(node, ways)

    def shown(self, node, ways):
        """Returns the record as `shelfish export` prints it."""
        record, details, moves = {"fen": fen_of(node.board), "ended": [0, 0, 0]}, {}, []
        mirror = model.is_mirrored(node.board.turn)
        ranks = None
        for way, results, references in ways:
            if way == "end":
                record["ended"] = self.sums(results)
                if count(results):
                    details["end"] = self.details(results, references)
                continue
            if isinstance(way, Node):
                if not count(results):
                    continue
                way.games, way.references = results, references
                legal = model.Seen(node.board).legal()
                found = [
                    move for move in legal
                    if (move.origin ^ mirror, move.target ^ mirror) == way.move and not move.promotion
                ]  # fmt: skip
                check(len(found) == 1, "a step is not a legal move")
                move = found[0]
            else:
                ranks = ranks or model.ranked(model.Line(node.board), model.Memory())
                check(way < min(511, len(ranks)), "no legal move has this rank")
                move = ranks[way][0]
            moves.append((move, results, references))
        moves.sort(key=lambda way: (-count(way[1]), way[0].origin ^ mirror, way[0].target ^ mirror, way[0].promotion))
        names = [name((move, mirror)) for move, _, _ in moves]
        check(len(names) == len(set(names)), "a move occurs twice")
        self.totals["moves"] += len(moves)
        record["moves"] = {text: self.sums(results) for text, (_, results, _) in zip(names, moves)}
        if self.has_details:
            for text, (_, results, references) in zip(names, moves):
                details[text] = self.details(results, references)
            record["details"] = details
        return record

    def sums(self, results):
        return [sum(games.numbers[n] for games in results) for n in range(3)]

    def details(self, results, references):
        shown = {}
        if self.buckets:
            shown["buckets"] = {str(n): games.numbers for n, games in enumerate(results) if games.count()}
        shown["games"] = [reference_of(number) for number in references]
        return shown


def reference_of(number):
    rating, result, is_source = number >> 52, number >> 50 & 3, number >> 49 & 1
    low = number & (1 << 48) - 1
    check(result < 3 and not number >> 48 & 1, "no reference")
    results = [[0, 0, 1], [0, 1, 0], [1, 0, 0]][result]
    if is_source:
        return [f"{low >> 32}#{low & 0xFFFFFFFF}", rating, results]
    letters = ""
    for _ in range(8):
        low, digit = divmod(low, 62)
        letters = SPEEDS_ID[digit] + letters
    check(low == 0, "no reference")
    return [letters, rating, results]


if __name__ == "__main__":
    for record in Database(*sys.argv[1:]).records():
        print(json.dumps(record, separators=(",", ":"), ensure_ascii=False))
