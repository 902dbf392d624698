"""Random attacks on a published file, by a plain script that shares no code with shoal.

    python benchmarks/attack.py EVENTS PUBLISHED KEY --k 5 --tau-min 30 --epsilon-min 30 --attacks 5000

Reads the files as a recipient would (and the key, to know which record is the victim's own), draws victims and
moments, and counts the records consistent with what the attacker saw, strict and gap-tolerant (docs/promise.md).
"""

from __future__ import annotations

import argparse
import json
import random
import sys

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pyproj


def read(path: str):
    return (pyarrow.csv.read_csv if path.endswith(".csv") else pyarrow.parquet.read_table)(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("events", "published", "key"):
        parser.add_argument(name)
    for name, default in (
        ("--k", 2),
        ("--tau-min", 30),
        ("--epsilon-min", 30),
        ("--attacks", 5000),
        ("--seed", 1),
    ):
        parser.add_argument(name, type=int, default=default)
    options = parser.parse_args()
    tau, epsilon = options.tau_min * 60, options.epsilon_min * 60

    published = read(options.published)
    grid = json.loads(published.schema.metadata[b"shoal"])["grid"]
    names, record = np.unique(
        published["record"].to_numpy(zero_copy_only=False).astype(str), return_inverse=True
    )
    seconds = pyarrow.timestamp("s", tz="UTC")
    t0, t1 = (published[name].cast(seconds).cast("int64").to_numpy() for name in ("t_start", "t_end"))
    x0, x1, y0, y1 = (published[name].to_numpy() for name in ("x_min", "x_max", "y_min", "y_max"))

    events = read(options.events)
    user = events["user"].to_numpy(zero_copy_only=False).astype(str)
    t = events["time"].cast(seconds).cast("int64").to_numpy()
    t = t // grid["step_s"] * grid["step_s"]
    if "lat" in events.column_names:
        x, y = pyproj.Proj(grid["crs"])(events["lon"].to_numpy(), events["lat"].to_numpy())
    else:
        x, y = events["x"].to_numpy(), events["y"].to_numpy()

    key = read(options.key)
    own = dict(
        zip(key["user"].to_pylist(), np.searchsorted(names, key["record"].to_pylist()).tolist(), strict=True)
    )
    rows_of = {name: np.flatnonzero(user == name) for name in own}

    present: dict[int, np.ndarray] = {}
    for epoch in np.unique(t0 // epsilon):
        present[int(epoch)] = np.zeros(len(names), bool)
        present[int(epoch)][record[t0 // epsilon == epoch]] = True

    rng = random.Random(options.seed)
    victims = sorted(own)
    fewest = {"strict": len(names), "gap-tolerant": len(names)}
    tried = {"strict": 0, "gap-tolerant": 0}
    violations, empty = 0, 0
    for _ in range(options.attacks):
        victim = rng.choice(victims)
        rows = rows_of[victim]
        anchor = (
            int(t[rng.choice(rows.tolist())])
            if rng.random() < 0.8
            else rng.randint(int(t.min()), int(t.max()))
        )
        a = (anchor - rng.randrange(0, tau)) // grid["step_s"] * grid["step_s"]
        known = rows[(t[rows] >= a) & (t[rows] < a + tau)]
        empty += not len(known)
        near = np.flatnonzero((t1 > a) & (t0 < a + tau))
        fits = np.ones(len(names), bool)
        forgiven = np.ones(len(names), bool)
        met = np.zeros(len(near), bool)
        for row in known:
            inside = (t0[near] <= t[row]) & (t[row] < t1[near]) & (x0[near] <= x[row]) & (x[row] < x1[near])
            inside &= (y0[near] <= y[row]) & (y[row] < y1[near])
            met |= inside
            holds = np.zeros(len(names), bool)
            holds[record[near[inside]]] = True
            fits &= holds
            forgiven &= holds | ~present.get(int(t[row] // epsilon), np.zeros(len(names), bool))
        contradicting = near[~met & (t0[near] >= a) & (t1[near] <= a + tau)]
        fits[record[contradicting]] = False
        forgiven[record[contradicting]] = False
        for attacker, candidates in (("strict", fits), ("gap-tolerant", forgiven)):
            if attacker == "strict" and not fits[own[victim]]:
                continue  # something of the victim is suppressed here: the strict attacker finds nobody
            tried[attacker] += 1
            fewest[attacker] = min(fewest[attacker], int(candidates.sum()))
            violations += int(candidates.sum()) < options.k
    for attacker in tried:
        print(f"{attacker:<13} {tried[attacker]} attacks, fewest consistent records {fewest[attacker]}")
    print(f"violations    {violations} ({empty} attacks with empty knowledge among them)")
    sys.exit(violations > 0)


if __name__ == "__main__":
    main()
