# SPDX-License-Identifier: BSD-2-Clause
"""Who asks filters in a folder, for which tests/writers/service has no reader:
by `bloomctl verify` of the keys that the writers' log has."""

import socket
import subprocess
import threading
import time


class Log:
    """The writers' log: lines of key, time and perhaps `gone`."""

    def __init__(self):
        self.file = open("log", "rb")
        self.rest = b""
        self.cards = {}  # of a key: when it was committed, and how often it went

    def read(self):
        *whole, self.rest = (self.rest + self.file.read()).split(b"\n")
        for line in whole:
            key, at, *gone = line.split(b"\t")
            gones = self.cards.get(key, (0, 0))[1]
            self.cards[key] = ((None, gones + 1) if gone
                               else (float(at), gones))

    def due(self, before):
        self.read()
        return {k: gones for k, (at, gones) in self.cards.items()
                if at is not None and at < before}

    def still(self, key, gones):
        return self.cards[key][0] is not None and self.cards[key][1] == gones


class Recent:
    """recent-writes, on a server."""

    def __init__(self, place):
        host, port = place.rsplit(":", 1)
        self.link = socket.create_connection((host, int(port)))
        self.answers = self.link.makefile("rb")

    def has(self, key):
        name = b"recent:" + key
        self.link.sendall(b"*2\r\n$6\r\nEXISTS\r\n$%d\r\n%s\r\n"
                          % (len(name), name))
        answer = self.answers.readline()
        if answer not in (b":0\r\n", b":1\r\n"):
            raise ValueError(f"recent-writes: {answer!r}")
        return answer == b":1\r\n"


def _missing(w, due, name):
    """Those of the keys that no filter has."""
    if not due:
        return []
    with open(name, "wb") as f:
        f.write(b"".join(k + b"\n" for k in due))
    run = subprocess.run(
        [f"{w.args.build}/bloomctl", "verify", "-q", "-k", "cards.keyspec",
         "-t", w.target, "-s", f"file:{name}", "--input-format", "key",
         "--absent", "0", "--grace", "0s"],
        capture_output=True, check=False)
    if run.returncode == 0:
        return []
    if run.returncode != 81:
        w.fail(f"verify ended with {run.returncode}: {run.stderr.decode()}")
    return [line.split(b"\t")[-1] for line in run.stdout.splitlines()]


def check(w, name, before):
    log = Log()
    due = log.due(before)
    lost = _missing(w, due, f"{name.split()[-1]}.keys")
    log.read()
    lost = [k for k in lost if log.still(k, due[k])]
    if not lost:
        return None
    return (f"after {name}, which began at {before:.6f}, {len(lost)} keys are "
            f"in no filter, as {lost[0].decode()}, {log.cards[lost[0]]}")


def reader(w):
    log, recent = Log(), Recent(w.place)
    while w.sleep(0.02):
        due = log.due(time.time())
        lost = _missing(w, due, f"{threading.get_ident()}.keys")
        w.asked["filter"] += len(due) - len(lost)
        found = [k for k in lost if recent.has(k)]
        w.asked["recent"] += len(found)
        lost = [k for k in lost if k not in found]
        log.read()
        lost = [k for k in lost if log.still(k, due[k])]
        if lost:
            w.fail(f"{lost[0].decode()}, committed at "
                   f"{log.cards[lost[0]][0]:.6f}, is not found at "
                   f"{time.time():.6f}")
