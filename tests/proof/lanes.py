# SPDX-License-Identifier: BSD-2-Clause
"""All who act in a run of the proof, each in a thread of its own."""

import os
import signal
import subprocess
import threading
import time

import folder
from world import PASSES, REBUILD, Wrong


# What a rollback says that comes behind another, or first.
NO_WAY_BACK = ("no way back", "no generation was live before")


def _service(w, what, *options):
    return [f"{w.args.build}/service", what, "-k", "cards.keyspec",
            "-t", w.place, "--log", "log", *options]


def _said(process):
    out, err = process.communicate()
    return (out + err).strip()


def _start(words):
    return subprocess.Popen(words, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


# --- bloomctl -------------------------------------------------------------


class Runs:
    """Those of one lane, of which some are killed, never two on end."""

    def __init__(self, w, lane):
        self.w, self.lane = w, lane
        self.rng = w.random(lane)
        self.spared = True

    def run(self, name, command, *options):
        w = self.w
        receipt = f"{self.lane}.json"
        swaps = w.swaps
        began = time.time()
        process = _start(w.bloomctl(command, *options, "--receipt", receipt))
        if self._kills():
            w.sleep(self.rng.uniform(0, 0.8))
            process.kill()
        said = _said(process)
        status = process.returncode
        if status == -signal.SIGKILL:
            w.count("killed_runs")
        elif status in PASSES or any(text in said for text in NO_WAY_BACK):
            w.count("passing")
        elif status != 0:
            w.fail(f"{name} ended with {status}: {said}")
        else:
            w.count(name)
            w.took(receipt)
            wrong = check(w, name, began)
            # Behind a swap what was caught up before is for its last pass.
            if name != "sync" or (swaps % 2 == 0 and swaps == w.swaps):
                w.fail_if(wrong)

    def _kills(self):
        kills = self.rng.random() < self.w.config["kill_runs"] and self.spared
        self.spared = not kills
        return kills


def syncs(w):
    runs = Runs(w, "sync")
    while w.sleep(w.config["interval"]):
        runs.run("sync", "sync")


def rebuilds(w):
    runs = Runs(w, "rebuild")
    while w.sleep(runs.rng.uniform(0, 2 * w.config["rebuild_pause"])):
        w.swaps += 1
        if runs.rng.random() < w.config["rollbacks"]:
            runs.run("rollback", "swap", "--rollback")
        else:
            runs.run("rebuild", "rebuild", *REBUILD)
        w.swaps += 1


def check(w, name, before):
    """What is wrong, or None: filters alone have all that was committed before
    a run that caught up began."""
    w.count("checks")
    if not w.on_server:
        return folder.check(w, name, before)
    process = _start(_service(w, "follow", "--once", "--filter-only",
                              "--before", f"{before:.6f}"))
    said = _said(process)
    if process.returncode == 0:
        return None
    return (f"after {name}, which began at {before:.6f}, of the filters "
            f"alone: {said}")


# --- writers and readers --------------------------------------------------


def writer(w, number):
    rng = w.random(f"writer {number}")
    options = w.config["writers"][number]
    words = [f"--{k}={v}" for k, v in options.items() if v]
    if options.get("clock") == 0:
        words.append("--clock=0")
    for life in range(1000):
        process = _start(_service(
            w, "write", "-d", w.database(), "--ttl-file", "ttl", "--ttl", "1",
            "--name", f"w{number}-{life}-",
            "--seed", str(rng.randrange(1 << 30)), *words,
            *(["--recent", w.elsewhere] if w.args.forget else [])))
        until = time.time() + (rng.uniform(0.5, 8) if w.config["kill_writers"]
                               else 1e9)
        while w.running() and time.time() < until and process.poll() is None:
            w.over.wait(0.02)
        if not w.running():
            break
        if process.poll() is None:
            process.kill()
            w.count("killed_writers")
        said = _said(process)
        if process.returncode not in (0, -signal.SIGKILL):
            w.fail(f"writer {number} ended with {process.returncode}: {said}")
        w.drop_prepared(process.pid)
    process.terminate()
    said = _said(process)
    # It may not have come to mind signals.
    if process.returncode not in (0, -signal.SIGTERM):
        w.fail(f"writer {number} ended with {process.returncode}: {said}")


def reader(w):
    if not w.on_server:
        folder.reader(w)
        return
    process = _start(_service(w, "follow"))
    while w.running() and process.poll() is None:
        w.over.wait(0.05)
    process.terminate()
    said = _said(process)
    if process.returncode not in (0, -signal.SIGTERM):
        w.fail(f"a reader: {said}; recent writes are kept for "
               f"{open('ttl', encoding='ascii').read().strip()} s")
    for word in said.split():
        name, _, number = word.partition("=")
        if name in w.asked:
            with w.lock:
                w.asked[name] += int(number)


def lag(w):
    """The standby stands still, and comes again."""
    rng = w.random("lag")
    while w.sleep(rng.uniform(0.3, 3)):
        w.sql("SELECT pg_wal_replay_pause()", w.args.standby)
        w.sleep(rng.uniform(0.1, 1.5))
        w.sql("SELECT pg_wal_replay_resume()", w.args.standby)


# --- all ------------------------------------------------------------------


def _guarded(w, lane, *args):
    try:
        lane(w, *args)
    except (OSError, subprocess.SubprocessError, ValueError, Wrong) as e:
        w.fail(f"{lane.__name__}: {e} {getattr(e, 'stderr', '') or ''}")


def run(w):
    """Until the time is over or something is wrong; then all is caught up."""
    chosen = [(reader,), (reader,), (syncs,), (rebuilds,)]
    chosen += [(writer, n) for n in range(len(w.config["writers"]))]
    if w.config["lag"]:
        chosen.append((lag,))
    threads = [threading.Thread(target=_guarded, args=(w, *c)) for c in chosen]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if w.failures:
        return
    time.sleep(1.5 if w.counts["killed_runs"] else 0)  # the leases end
    began = time.time()
    w.must("rebuild", *REBUILD)
    w.fail_if(check(w, "the last rebuild", began))
    w.must("verify", "--absent", "1000")
