"""Builds a Shelfish database with Apache Spark, by the verbs of the program `shelfish`.

    shelfish plan dump.jsonl.zst --parts 64 -o plan.json
    spark-submit build-tools/spark/build.py --plan plan.json --out s3://my-bucket/evals --shares 64 dump.jsonl.zst

Workers need the program (`--shelfish`, or `--ship` to send this machine's), the sources, by a path or URL that is the same
everywhere, and the place of the database: a directory that all share, or a bucket, with its credentials in their
environment (`shelfish publish --help`). Python 3.9 and PySpark 3.5 or later.

Each task runs one `shelfish partition` or `shelfish encode`. The boundaries of the parts come from the plan and records of a
position are merged by `shelfish encode`, so that the bytes are those of `shelfish build --plan`. Files appear whole, named by
their content: tasks may fail, be run again, and run twice at a time.
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
        description="Build a Shelfish database with Apache Spark, by a plan of `shelfish plan`.",
        epilog=__doc__.split("\n\n", 1)[1],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="dumps: paths or URLs that every worker knows")
    parser.add_argument("--plan", required=True, help="the plan, a file of this machine")
    parser.add_argument("--out", required=True, metavar="DIR_OR_URL", help="the database, which every worker can write to")
    parser.add_argument("--shares", type=int, default=0, metavar="N", help="tasks that share each source [default: Spark's default]")
    parser.add_argument("--shelfish", default="shelfish", metavar="PROGRAM", help="the program, as workers know it")
    parser.add_argument("--ship", action="store_true", help="send this machine's program to the workers")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads of each task's program [default: 1]")
    parser.add_argument("--master", help="Spark's master, where spark-submit does not say it, as local[4]")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    args = parser.parse_args()
    if args.shares < 0 or args.threads < 1:
        parser.error("--shares and --threads are at least 1")
    return args


class Verbs:
    """Runs the program on a worker. What Spark sends along must be small, so files go by `addFile`."""

    def __init__(self, args, is_shipped):
        self.program, self.out, self.threads = args.shelfish, args.out, str(args.threads)
        self.plan, self.is_shipped = os.path.basename(args.plan), is_shipped

    def start(self, verb, *options, **pipes):
        program = self.program
        if self.is_shipped:
            program = SparkFiles.get(os.path.basename(program))
            os.chmod(program, 0o755)
        command = [program, verb, "--plan", SparkFiles.get(self.plan), "--threads", self.threads, *options]
        return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, **pipes)

    def partition(self, task):
        """Yields (part and key, record) of a share of a source, and counts its lines."""
        source, share, counts = task
        process = self.start("partition", "--json", "--share", share, source, stdin=subprocess.DEVNULL)
        try:
            for line in process.stdout:
                key, _, record = line[:-1].rpartition(b"\t")
                yield key, record
            said = finish(process, "partition")
            summary = json.loads(said.splitlines()[-1])
            counts.add((summary["lines"], summary["records"], sum(summary["rejects"].values())))
        finally:
            process.kill()
            process.wait()

    def encode(self, part, records):
        """Encodes the sorted records of a part; yields what was made of it."""
        command = ["encode", "--part", str(part), "-o", self.out, "--ended", "--json", "--quiet"]
        process = self.start(*command, stdin=subprocess.PIPE)
        try:
            try:
                end = b""
                for key, record in records:
                    if key == end_of(part):
                        end = b"\n"
                    else:
                        process.stdin.write(b"%b\t%b\n" % (key, record))
                # The program may outlive this worker, and has to know whether it has all.
                process.stdin.write(end)
                process.stdin.close()
            except BrokenPipeError:
                # It says itself why it read no further.
                pass
            report = process.stdout.read()
            finish(process, "encode")
            yield json.loads(report)
        finally:
            process.kill()
            process.wait()


def finish(process, verb):
    """Waits for the end of a program; what it said."""
    said = process.stderr.read().decode(errors="replace").strip()
    code = process.wait()
    if code != 0:
        raise RuntimeError(f"shelfish {verb} ended with {code}: {said[-2000:]}")
    return said


def part_of(key):
    """The part that the program wrote before the key: its boundaries are those of the plan."""
    return int(key[:5])


def end_of(part):
    """A key behind all others of a part: PySpark ends the records of a task alike if its executor has died."""
    return b"%05d\t~" % part


class Counts:
    """Sums of lines, records and lines rejected, added to once for each run of a task."""

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
        sys.exit(f"{args.shelfish}: there is no such program on this machine, which seals the database; name it by --shelfish")
    with open(args.plan, encoding="utf-8") as file:
        parts = len(json.load(file)["boundaries"]) + 1
    builder = SparkSession.builder.appName("shelfish build")
    context = (builder.master(args.master) if args.master else builder).getOrCreate().sparkContext
    context.addFile(args.plan)
    if args.ship:
        context.addFile(program)
    verbs, counts = Verbs(args, args.ship), Counts(context)
    shares = args.shares or context.defaultParallelism
    tasks = [(source, f"{n}/{shares}", counts) for source in args.sources for n in range(shares)]
    records = context.parallelize(tasks, len(tasks)).flatMap(verbs.partition)
    ends = context.parallelize([(end_of(part), b"") for part in range(parts)], 1)
    # Explicit boundaries: a range partitioner samples, and its result differs from run to run.
    sorted_records = records.union(ends).repartitionAndSortWithinPartitions(parts, part_of)
    reports = sorted_records.mapPartitionsWithIndex(verbs.encode).collect()
    context.stop()

    sealed = subprocess.run([program, "seal", "--plan", args.plan, "--json", "--quiet", args.out], stdout=subprocess.PIPE)
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
        # A task that was run again is counted again.
        print("{lines} lines read, {records} records, {rejected} lines rejected".format(**summary))
        print("{manifest}: {positions} positions of {parts} parts, {bytes} bytes, {integrity}, {seconds} s".format(**summary))


if __name__ == "__main__":
    main()
