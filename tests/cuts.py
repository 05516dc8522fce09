#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs a command on a server again and again, each time from the same state,
and each time something goes wrong at another place.

    cuts.py SERVER KIND STRIDE COMMAND OPTION...

SERVER is the socket of a server, and what it holds now is the state.  KIND is
`cut`: the answers are cut after N bytes (tests/proxy.py, at the socket p), or
`kill`: the command is killed at its N-th send (tests/fault.c).  N goes from 1
on by STRIDE until nothing goes wrong any more.  After each:

    the status is 0 or one for what is lost: 69, 74, 75, 84
    readers find every row of the file `members`, in lines of FILTER HEXKEY
    the lock is free, or will be by itself
    the same command ends well, and no filter is nobody's

It prints how many runs there were, and how many of them ended with 0.
"""
import os
import signal
import socket
import subprocess
import sys

server, kind, stride = sys.argv[1], sys.argv[2], int(sys.argv[3])
command = sys.argv[4:]
bloomctl = os.environ["BLOOMCTL"]
prefix = b"bloomctl:{" + os.environ["SET"].encode() + b"}:"
documented = {0, 69, 74, 75, 84}


class Redis:
    def __init__(self):
        link = socket.socket(socket.AF_UNIX)
        link.connect(server)
        self.file = link.makefile("rwb")

    def send(self, *words):
        words = [w if isinstance(w, bytes) else str(w).encode() for w in words]
        self.file.write(b"*%d\r\n" % len(words))
        for word in words:
            self.file.write(b"$%d\r\n%s\r\n" % (len(word), word))

    def reply(self):
        line = self.file.readline()
        mark, rest = line[:1], line[1:-2]
        if mark == b"-":
            raise RuntimeError(rest.decode())
        if mark == b"*":
            return [self.reply() for _ in range(int(rest))]
        if mark == b"$":
            if rest == b"-1":
                return None
            return self.file.read(int(rest) + 2)[:-2]
        return int(rest) if mark == b":" else rest

    def all(self, commands):
        for words in commands:
            self.send(*words)
        self.file.flush()
        return [self.reply() for _ in commands]

    def ask(self, *words):
        return self.all([words])[0]


redis = Redis()
names = redis.ask("KEYS", "*")
state = list(zip(names, redis.all([("DUMP", name) for name in names])))
with open("members", encoding="ascii") as members:
    asked = [line.split() for line in members]
probes = [("BF.EXISTS", f, bytes.fromhex(k)) for f, k in asked]


def fresh():
    redis.all([("FLUSHALL",)] +
              [("RESTORE", name, 0, dump) for name, dump in state])


def run(target, **more):
    with open("said", "wb") as said:
        return subprocess.run([bloomctl, *command, "-t", "unix:" + target],
                              stdin=subprocess.DEVNULL, stdout=said,
                              stderr=said, check=False,
                              env=dict(os.environ, **more)).returncode


def wrong(n, what):
    with open("said", "rb") as said:
        sys.stdout.buffer.write(said.read())
    sys.exit(f"{' '.join(command)}, {kind} at {n}: {what}")


def check(n, status):
    found = redis.all(probes)
    if 0 in found:
        wrong(n, f"{found.count(0)} of {len(found)} rows are lost")
    lock = prefix + b"lock"
    ttl = redis.ask("PTTL", lock)
    if ttl == -1 or (ttl > 0 and status == 0):
        wrong(n, f"the lock is held, {ttl} ms")
    redis.ask("DEL", lock)
    if (again := run(server)) != 0:
        wrong(n, f"and then it ends with {again}")
    if 0 in redis.all(probes):
        wrong(n, "rows are lost when it was done again")
    known = redis.ask("SMEMBERS", prefix + b"generations")
    for name in redis.ask("KEYS", "{*}:bloomctl:*"):
        if name.split(b":bloomctl:")[1].split(b":")[0] not in known:
            wrong(n, f"{name.decode()} is nobody's")


def cut(n):
    with open("order.new", "w", encoding="ascii") as order:
        order.write(f"cut {n}")
    os.rename("order.new", "order")
    status = run("p")
    if status not in documented:
        wrong(n, f"status {status}")
    if not os.path.exists("order.cut"):
        return None
    os.unlink("order.cut")
    return status


def kill(n):
    status = run(server, LD_PRELOAD=os.environ["BUILD"] + "/fault.so",
                 FAULT=f"send:{n}:kill")
    if status not in (0, -signal.SIGKILL):
        wrong(n, f"status {status}")
    return status or None


at, runs, good = 1, 0, 0
while True:
    fresh()
    result = cut(at) if kind == "cut" else kill(at)
    if result is None:
        break
    check(at, result)
    runs += 1
    good += result == 0
    at += stride
print(runs, good)
