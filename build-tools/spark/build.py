"""Builds a Shelfish database with Apache Spark, by commands of the program `shelfish`.

    shelfish parts plan dump.jsonl.zst --parts 64 -o plan.json
    spark-submit build-tools/spark/build.py --plan plan.json --out s3://my-bucket/evals --shares 64 dump.jsonl.zst

Workers need the program: name it by `--shelfish`, or send this machine's program by `--ship`. Workers read the sources by the
same paths or URLs, and write the database to a shared directory or to a bucket. The credentials of a bucket come from their
environment (`shelfish publish --help`). The script needs Python 3.9 and PySpark 3.5 or later.

Each task runs one `shelfish parts partition` or `shelfish parts encode`. The plan contains the boundaries of the parts, and `shelfish parts encode`
merges the records of a position. The bytes are therefore those of `shelfish build --plan`. Files appear complete, named by
their content, so that tasks may fail, run again, and run twice at the same time.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time

from pyspark import SparkFiles
from pyspark.sql import SparkSession


def arguments():
    parser = argparse.ArgumentParser(
        description="Build a Shelfish database with Apache Spark, by a plan of `shelfish parts plan`.",
        epilog=__doc__.split("\n\n", 1)[1],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="dump: a path or URL that every worker can read")
    parser.add_argument("--plan", required=True, help="plan of `shelfish parts plan`, a file on this machine")
    parser.add_argument("--out", required=True, metavar="DIR_OR_URL", help="write the database to this directory or bucket, which every worker can write to")
    parser.add_argument("--shares", type=int, default=0, metavar="N", help="split each source among N tasks [default: Spark's default]")
    parser.add_argument("--shelfish", default="shelfish", metavar="PROGRAM", help="run this program on the workers [default: shelfish]")
    parser.add_argument("--ship", action="store_true", help="send the program of this machine to the workers")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads of each task [default: 1]")
    parser.add_argument("--master", help="URL of Spark's master, such as local[4], if spark-submit does not set it")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    args = parser.parse_args()
    if args.shares < 0 or args.threads < 1:
        parser.error("--shares and --threads must be at least 1")
    return args


class Commands:
    """Runs the program on a worker. Spark serializes this object for each task, so files are sent by `addFile` instead."""

    def __init__(self, args, is_shipped):
        self.program, self.out, self.threads = args.shelfish, args.out, str(args.threads)
        self.plan, self.is_shipped = os.path.basename(args.plan), is_shipped

    def start(self, command, *options, **pipes):
        program = self.program
        if self.is_shipped:
            program = SparkFiles.get(os.path.basename(program))
            os.chmod(program, 0o755)
        call = [program, "parts", command, "--plan", SparkFiles.get(self.plan), "--threads", self.threads, *options]
        return subprocess.Popen(call, stderr=subprocess.PIPE, stdout=subprocess.PIPE, **pipes)

    def partition(self, task):
        """Yields (part and key, record) for the lines of a share of a source, and counts the lines."""
        source, share, counts = task
        process = self.start("partition", "--json", "--share", share, source, stdin=subprocess.DEVNULL)
        try:
            for line in process.stdout:
                key, _, record = line[:-1].rpartition(b"\t")
                yield key, record
            output = finish(process, "partition")
            summary = json.loads(output.splitlines()[-1])
            counts.add((summary["lines"], summary["records"], sum(summary["rejects"].values())))
        finally:
            process.kill()
            process.wait()

    def encode(self, part, records):
        """Encodes the sorted records of a part, and yields the summary."""
        arguments = ["encode", "--part", str(part), "-o", self.out, "--ended", "--json", "--quiet"]
        process = self.start(*arguments, stdin=subprocess.PIPE)
        try:
            try:
                end = b""
                for key, record in records:
                    if key == end_of(part):
                        end = b"\n"
                    else:
                        process.stdin.write(b"%b\t%b\n" % (key, record))
                # The program may outlive this worker. Without this line it refuses the input as incomplete.
                process.stdin.write(end)
                process.stdin.close()
            except BrokenPipeError:
                # The program reports the reason on standard error.
                pass
            report = process.stdout.read()
            finish(process, "encode")
            yield json.loads(report)
        finally:
            process.kill()
            process.wait()


def finish(process, command):
    """Waits for the end of a program, and returns its standard error. Raises if the program failed."""
    output = process.stderr.read().decode(errors="replace").strip()
    code = process.wait()
    if code != 0:
        raise RuntimeError(f"shelfish {command} failed with exit code {code}: {output[-2000:]}")
    return output


def part_of(key):
    """Returns the part of a record, which `shelfish parts partition` writes before the key."""
    return int(key[:5])


def end_of(part):
    """Returns a key after all keys of a part. Without it, PySpark ends the records of a task the same way if an executor died."""
    return b"%05d\t~" % part


class Counts:
    """Sums of lines, records and rejected lines. Each run of a task adds its counts once."""

    def __init__(self, context):
        self.sums = [context.accumulator(0) for _ in range(3)]

    def add(self, counts):
        for total, count in zip(self.sums, counts):
            total.add(count)

    def values(self):
        return [total.value for total in self.sums]


def build(args):
    start = time.monotonic()
    program = shutil.which(args.shelfish)
    if program is None:
        sys.exit(f"{args.shelfish}: no such program on this machine, which seals the database; name the program by --shelfish")
    with open(args.plan, encoding="utf-8") as file:
        parts = len(json.load(file)["boundaries"]) + 1
    builder = SparkSession.builder.appName("shelfish build")
    context = (builder.master(args.master) if args.master else builder).getOrCreate().sparkContext
    context.addFile(args.plan)
    if args.ship:
        context.addFile(program)
    commands, counts = Commands(args, args.ship), Counts(context)
    shares = args.shares or context.defaultParallelism
    tasks = [(source, f"{n}/{shares}", counts) for source in args.sources for n in range(shares)]
    records = context.parallelize(tasks, len(tasks)).flatMap(commands.partition)
    ends = context.parallelize([(end_of(part), b"") for part in range(parts)], 1)
    # The boundaries are explicit. Those of a range partitioner come from a sample and differ from run to run.
    sorted_records = records.union(ends).repartitionAndSortWithinPartitions(parts, part_of)
    reports = sorted_records.mapPartitionsWithIndex(commands.encode).collect()
    context.stop()

    sealed = subprocess.run([program, "parts", "seal", "--plan", args.plan, "--json", "--quiet", args.out], stdout=subprocess.PIPE)
    if sealed.returncode != 0:
        sys.exit(sealed.returncode)
    lines, records, rejected = counts.values()
    return {
        **json.loads(sealed.stdout),
        "parts": len(reports),
        "lines": lines,
        "records": records,
        "rejected": rejected,
        "seconds": round(time.monotonic() - start, 1),
    }


def main():
    args = arguments()
    summary = build(args)
    if args.json:
        print(json.dumps(summary))
    else:
        # A repeated task is counted again.
        print("{lines} lines read, {records} records, {rejected} lines rejected".format(**summary))
        print("{manifest}: {positions} positions of {parts} parts, {bytes} bytes, {integrity}, {seconds} s".format(**summary))


if __name__ == "__main__":
    main()
