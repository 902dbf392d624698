"""Kill a run at ten random moments and resume it each time: how long the rest takes, and whether it is the same.

python benchmarks/kill_resume.py [--users 6000] [--kills 10]

Seconds are those of the processor, so that other work on the machine does not count (Linux only).
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet

import shoal

MOST_OF_A_FULL_RUN = 0.65  # what the rest may take after a kill half-way


def main() -> None:
    """Measure and say so; exit code 1 where a resumed run differs or takes too long."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", type=int, default=6000)
    parser.add_argument("--kills", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        events = Path(folder) / "events.parquet"
        finish("synth", "city", "-o", events, "--users", options.users, "--days", 1)
        sys.exit(not measure(events, Path(folder) / "published.parquet", options.kills))


def measure(events: Path, output: Path, kills: int) -> bool:
    """Run undisturbed, then with kills."""
    run = ("anonymize", events, "-o", output, "--k", 2, "--tau", "30min", "--epsilon", "30min")
    finish(*run)  # so that kernels are compiled and files are in memory
    full = statistics.median(finish(*run, "--force") for _ in range(3))
    expected = boxes_in(output)
    print(f"undisturbed         {full:6.1f} s, {sum(len(boxes) for boxes in expected.elements()):,} boxes")
    good = True
    rests = []
    draw = random.Random(0)
    for share in [0.5] * 3 + [draw.random() for _ in range(kills - 3)]:
        kill_after(share * full, *run, "--force")
        if not list(output.parent.glob("*.checkpoint")):
            print(f"killed at {share:4.0%} of it  too late, it had ended")
            continue
        steps = len(list(output.parent.glob("*.checkpoint/step-*")))
        rest = finish(*run, "--force", "--resume")
        same = boxes_in(output) == expected
        left = sorted(path.name for path in output.parent.iterdir() if path.name.startswith("."))
        print(
            f"killed at {share:4.0%} of it  {rest:6.1f} s for the rest ({rest / full:4.0%}), {steps} steps done,"
            f" {'same boxes' if same else 'OTHER BOXES'}{', left ' + str(left) if left else ''}",
            flush=True,
        )
        good &= same and not left
        if share == 0.5:
            rests.append(rest / full)
    print(f"after a kill half-way the rest takes {statistics.median(rests):.0%} of a full run")
    return good and statistics.median(rests) <= MOST_OF_A_FULL_RUN


def finish(*arguments: object) -> float:
    """Run the command to its end and return the seconds it worked."""
    before = sum(os.times()[2:4])
    subprocess.run(command(*arguments), env=environment(), stdout=subprocess.DEVNULL, check=True)
    return sum(os.times()[2:4]) - before


def kill_after(seconds: float, *arguments: object) -> None:
    """Kill the command without warning when it has worked so long."""
    process = subprocess.Popen(command(*arguments), env=environment(), stdout=subprocess.DEVNULL)
    while process.poll() is None and worked(process.pid) < seconds:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()


def worked(pid: int) -> float:
    """Seconds that a running process has had of the processor."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "shoal", *(str(argument) for argument in arguments)]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(shoal.__file__).parents[1])}


def boxes_in(path: Path) -> Counter[Any]:
    """A published file as a multiset of records, each the list of its boxes."""
    table = pyarrow.parquet.read_table(path).select(
        ["record", "t_start", "t_end", "x_min", "x_max", "y_min", "y_max"]
    )
    records: dict[str, list[Any]] = {}
    for record, *box in zip(*(column.to_pylist() for column in table.columns), strict=True):
        records.setdefault(record, []).append(tuple(box))
    return Counter(tuple(boxes) for boxes in records.values())


if __name__ == "__main__":
    main()
