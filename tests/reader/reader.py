"""Reads a Shelfish database as FORMAT.md describes it: sections 3 and 5, manifest and pages.
The other files read the other sections. Their numbers of columns are those of the text.

    python reader.py DATABASE [sha256-HASH]

prints the records as `shelfish export` does, and checks checksums, hashes, keys and totals.
"""

import base64
import functools
import hashlib
import json
import pathlib
import sys
from collections import Counter

from xxhash import xxh64_intdigest as xxh64

from book import moves
from columns import LENGTHS, Columns, check
from evaluations import evaluations
from positions import check_canonical, key, positions


def records(folder, pin=None):
    """Yields the record of each position, in the order of the keys."""
    data = pathlib.Path(folder, "manifest.json").read_bytes()
    check(pin in (None, "sha256-" + hashlib.sha256(data).hexdigest()), "another manifest is pinned")
    check(data.startswith(b'{"format":3,'), "another format")
    checksum = b',"checksum":"%016x"}\n' % xxh64(data[:-32])
    check(data.endswith(checksum), "the checksum of the manifest differs")
    manifest = json.loads(data)
    read = {"evaluations": evaluations, "moves": moves}[manifest["records"]]
    before, totals, used = b"", Counter(), Counter()
    for separator, block, file in blocks(folder, manifest["shards"]):
        entries = sorted(decode(block, read), key=lambda entry: entry[0])
        check(before < separator <= entries[0][0] or not before, "a separator is wrong")
        for number, record in entries:
            check(number > before, "the keys of a database do not ascend")
            before = number
            evals = record.get("evals", [])
            totals["evaluations"] += len(evals)
            totals["pvs"] += sum(len(entry["pvs"]) for entry in evals)
            totals["moves"] += len(record.get("moves", []))
            totals["positions"] += 1
            used[file] += 1
            yield record
    wanted = Counter(manifest["totals"], positions=manifest["positions"])
    check(totals == wanted, f"expected totals {wanted}, found {totals}")
    wanted = Counter({shard["file"]: shard["positions"] for shard in manifest["shards"]})
    check(used == wanted, f"expected positions {wanted}, found {used}")


def decode(block, read):
    """Returns key and record of each position of a block."""
    columns = Columns(block)
    forest = positions(columns)
    for node in forest:
        check_canonical(node.board)
    entries = zip([key(node.board) for node in forest], read(columns, forest))
    columns.end()
    return entries


def hash_of(data):
    return hashlib.sha256(data).digest()[:16]


def unbased(text):
    return base64.b64decode(text + "==")


@functools.cache
def shard_file(folder, name):
    data = pathlib.Path(folder, name).read_bytes()
    check(name == hash_of(data).hex() + ".silo", f"{name} has another content")
    return data


def blocks(folder, shards):
    """Yields separator, bytes and file of each block."""
    for shard in shards:
        data = shard_file(folder, shard["file"])
        check(len(data) == shard["bytes"], f"{shard['file']} has another size")
        at = len(data) - sum(length for _, length, _ in shard["pages"])
        for separator, length, content in shard["pages"]:
            page = data[at : at + length]
            at += length
            check(unbased(content) in (page, hash_of(page)), "a page has another hash")
            listed = blocks_of_page(folder, shard["file"], Columns(page))
            check(listed[0][0].hex() == separator, "a page has another separator")
            yield from listed


def blocks_of_page(folder, own, columns):
    others, lengths = columns.rest(8), columns.rest(0)
    names = [own] + [others[n : n + 16].hex() + ".silo" for n in range(0, len(others), 16)]
    offset = columns.leb128(9)
    hashes = shard_file(folder, own)[offset : offset + 16 * len(lengths)]
    check(hash_of(hashes) == columns.take(9, 16), "a list of hashes has another hash")
    ends, separator, found, left = Counter(), b"", [], 0
    for n, common in enumerate(lengths):
        if not left:
            left, file = columns.leb128(5), names[columns.leb128(6)]
            ends[file] += columns.leb128(7)
        left -= 1
        separator = separator[:common] + columns.take(2, columns.byte(1))
        at = ends[file]
        ends[file] += 16 * columns.octave(3, LENGTHS)
        block = shard_file(folder, file)[at : ends[file]]
        check(hash_of(block) == hashes[16 * n : 16 * n + 16], "a block has another hash")
        found.append((separator, block, file))
    columns.end()
    return found


if __name__ == "__main__":
    for record in records(*sys.argv[1:]):
        print(json.dumps(record, separators=(",", ":"), ensure_ascii=False))
