"""One run of `shoal.anonymize` in a process of its own: seconds in all and by stage, and the most memory it took.

    python benchmarks/measured.py EVENTS [option=value ...]

Prints JSON. Other benchmarks call it, so that no run warms up another's memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HALF_HOUR = {"k": 2, "tau": "30min", "epsilon": "30min", "harden": 0}


class Stages:
    """Progress that notes how long each stage took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._name, self._since = "starting", time.perf_counter()

    def stage(self, name: str, total: int | None = None) -> None:  # noqa: ARG002
        now = time.perf_counter()
        self.seconds[self._name] = self.seconds.get(self._name, 0.0) + now - self._since
        self._name, self._since = name, now

    def advance(self) -> None:
        pass


def peak_mb() -> float:
    """The most memory this process took; not by getrusage, in which a process begins with its parent's peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


def measure(events: Path | str, **options: Any) -> dict[str, Any]:
    """A run in a fresh process; its figures."""
    given = [f"{name}={json.dumps(value)}" for name, value in options.items()]
    done = subprocess.run(
        [sys.executable, __file__, str(events), *given], capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout))


def main() -> None:
    import shoal

    options = dict(HALF_HOUR) | {
        name: json.loads(value) for name, value in (text.split("=", 1) for text in sys.argv[2:])
    }
    shoal.anonymize(shoal.make_city(300), **HALF_HOUR)  # what is compiled once is not the question
    stages, began = Stages(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        release = shoal.anonymize(
            sys.argv[1], output=Path(folder) / "published.parquet", progress=stages, **options
        )
    seconds = time.perf_counter() - began
    stages.stage("end")
    summary = release.summary
    print(
        json.dumps(
            {
                "users": summary["users"],
                "samples": summary["samples"],
                "seconds": seconds,
                "hiding_s": summary["seconds"],
                "stages": {name: value for name, value in stages.seconds.items() if value > 0.05},
                "peak_mb": peak_mb(),
                "suppressed_share": summary["suppressed_share"],
                "cost_per_box": summary["cost_per_box"],
                "longer_side_km": summary["longer_side_km"]["median"],
                "median_minutes": summary["precision_minutes"]["median"],
            }
        )
    )


if __name__ == "__main__":
    main()
