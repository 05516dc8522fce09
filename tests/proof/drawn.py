# SPDX-License-Identifier: BSD-2-Clause
"""What a run of the proof is like: all of it is drawn from its seed."""

import random

TARGETS = ("single", "cluster", "stand-in", "dir")


def _writer(rng, catch_up, target, holds):
    """The options of one writer of tests/writers/service; one that holds has
    its transactions open across snapshots and swaps."""
    w = {
        "rate": rng.choice((20, 60, 150)),
        "flip": rng.choice((0, 20, 50)),
        "rollback": rng.choice((0, 5, 20)),
        "removes": rng.choice((0, 30, 100)),
        "two-phase": rng.choice((0, 0, 20)),
        # Nobody adds to a folder but bloomctl.
        "lost": 100 if target == "dir" else rng.choice((0, 10, 50)),
    }
    if holds:
        w.update(rate=2, hold=rng.choice((300, 1000, 3000)))
    if rng.random() < 0.3:
        # Only by ids a clock that is wrong, or a stamp that stays, is no harm.
        w["clock"] = rng.choice((-3600, 0, 3600)) if catch_up == "xmin" else 0
    if catch_up == "xmin":
        w["unstamped"] = rng.choice((0, 30, 100))
    return w


def draw(seed, targets):
    """The configuration of a seed, on those of the targets that are there."""
    rng = random.Random(seed)
    target = rng.choice([t for t in TARGETS if t in targets])
    catch_up = rng.choice(("xmin", "xmin", "stamp"))
    source = rng.choice(("primary", "standby"))
    return {
        "seed": seed,
        "target": target,
        "source": source,
        "catch_up": catch_up,
        "buckets": rng.choice((1, 4, 16)),
        "rows": rng.choice((0, 200, 2000, 20000)),
        "asynchronous": rng.random() < 0.4,
        "writers": [_writer(rng, catch_up, target, holds)
                    for holds in rng.choice(((False,), (False, True),
                                             (False, False, True)))],
        "interval": rng.choice((0.2, 0.5, 1.0)),
        "rebuild_pause": rng.choice((0.2, 1.0, 2.0)),
        "rollbacks": rng.choice((0, 0.3, 0.6)),
        "lag": source == "standby" and rng.random() < 0.6,
        "kill_runs": rng.choice((0, 0.2, 0.4)),
        "kill_writers": rng.random() < 0.5,
    }
