"""Time every compiled kernel in two checkouts, interleaved in one run: is the new code as fast as the old?

    python benchmarks/kernel_times.py OLD/.venv/bin/python NEW/.venv/bin/python [--rounds 7] [--renamed old=new ...]

Each round runs the same work in both checkouts: a synthetic city is hidden with every selector, published, audited and
attacked, in one thread. Every call of a compiled function from Python is timed; the table has the median over the
rounds, and the ratio new / old. Kernels that take less than 10 ms in all are left out: they measure the clock.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

_LEAST_S = 0.01


def measure() -> dict[str, float]:
    """Seconds in every compiled function that Python calls, over the same work in any checkout."""
    import importlib
    import pkgutil

    from numba.core.dispatcher import Dispatcher

    import shoal

    spent: dict[str, float] = defaultdict(float)

    def timed(kernel: Any) -> Any:
        name = kernel.py_func.__name__

        def call(*arguments: Any) -> Any:
            began = time.perf_counter()
            try:
                return kernel(*arguments)
            finally:
                spent[name] += time.perf_counter() - began

        call.py_func = kernel.py_func  # type: ignore[attr-defined]
        return call

    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(shoal.__path__, "shoal.")
        if not found.name.endswith(("__main__", ".baselines"))
    ]
    for module in modules:
        if "kernels" in module.__name__:
            continue  # kernels call each other compiled
        for name, value in vars(module).copy().items():
            if isinstance(value, Dispatcher):
                setattr(module, name, timed(value))
    city = shoal.make_city(2_500, days=1, seed=3)
    small = shoal.make_city(300, days=1, seed=4)

    def work() -> None:
        options = {"tau": "30min", "epsilon": "30min", "workers": 1}
        release = shoal.anonymize(city, k=2, harden=2, **options)
        shoal.audit(city, release, key=release.key(), attacks=1_000, workers=1)
        shoal.anonymize(city, k=2, selector="mutual", verify=False, **options)
        shoal.anonymize(small, k=3, selector="mutual", verify=False, **options)
        shoal.anonymize(small, k=2, selector="spectral", verify=False, **options)
        shoal.utility.agreement(city, release)

    work()  # compiles, or loads, and warms the caches
    spent.clear()
    work()
    return dict(spent)


def main() -> None:
    """Compare two checkouts, or measure this one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pythons", nargs="*", type=Path, help="the python of the old and of the new checkout")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--renamed", nargs="*", default=[], metavar="OLD=NEW")
    options = parser.parse_args()
    if not options.pythons:
        print(json.dumps(measure()))
        return
    renamed = dict(pair.split("=") for pair in options.renamed)
    rounds: tuple[list[dict[str, float]], list[dict[str, float]]] = ([], [])
    for number in range(options.rounds):
        for side in (0, 1) if number % 2 else (1, 0):
            command = [str(options.pythons[side].absolute()), str(Path(__file__).resolve())]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(done.stderr)
            found = json.loads(done.stdout.splitlines()[-1])
            if side == 0:
                found = {renamed.get(name, name): seconds for name, seconds in found.items()}
            rounds[side].append(found)
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
    show(*rounds)


def show(old: list[dict[str, float]], new: list[dict[str, float]]) -> None:
    """The table: medians and ratios, the largest kernels first."""
    before, after = (
        {name: median(each.get(name, 0.0) for each in side) for name in side[0]} for side in (old, new)
    )
    total = sum(before.values())
    ratios = []
    for name in sorted(before, key=lambda name: -before[name]):
        if before[name] < _LEAST_S:
            continue
        if name not in after:
            print(f"{name:32} {1e3 * before[name]:9.1f} ms  only in the old checkout")
            continue
        ratios.append(after[name] / before[name])
        print(f"{name:32} {1e3 * before[name]:9.1f} ms {1e3 * after[name]:9.1f} ms  x {ratios[-1]:.3f}")
    for name in sorted(set(after) - set(before)):
        print(f"{name:32} {'':12} {1e3 * after[name]:9.1f} ms  only in the new checkout")
    print(f"total {1e3 * total:.0f} ms against {1e3 * sum(after.values()):.0f} ms")
    print(
        f"geometric mean x {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}, largest x {max(ratios):.3f}"
    )


if __name__ == "__main__":
    main()
