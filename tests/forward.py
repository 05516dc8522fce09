# SPDX-License-Identifier: BSD-2-Clause
"""An address behind which servers change: it forwards to a port of 127.0.0.1.

    forward.py FOLDER

Files in FOLDER: `port` is the one that it listens on, `to` the one that new
connections lead to (nobody listens there: they are refused).  A connection
that would send what is in `hold` is held before it: nothing more passes, in
either direction, and `held` is there.  SIGUSR1: all connections are cut, and
`now` says what `to` does; SIGUSR2: they are let go instead.
"""
import os
import selectors
import signal
import socket
import sys

folder = sys.argv[1]


def read(name):
    try:
        with open(os.path.join(folder, name), "rb") as f:
            return f.read().strip()
    except FileNotFoundError:
        return b""


def write(name, data):
    path = os.path.join(folder, name)
    with open(path + ".new", "wb") as f:
        f.write(data)
    os.rename(path + ".new", path)


class Pair:
    """A client, the server that it has, and what is kept back."""

    def __init__(self, client):
        self.client = client
        self.server = socket.create_connection(("127.0.0.1", int(read("to"))))
        self.tail = b""
        self.held = None
        for s in self.client, self.server:
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.listen()

    def listen(self):
        loop.register(self.client, selectors.EVENT_READ, self.from_client)
        loop.register(self.server, selectors.EVENT_READ, self.from_server)

    def cut(self):
        pairs.discard(self)
        for s in self.client, self.server:
            if self.held is None:
                loop.unregister(s)
            s.close()

    def hold(self, data):
        self.held = data
        for s in self.client, self.server:
            loop.unregister(s)
        write("held", b"")

    def release(self):
        if self.held is not None:
            data, self.held = self.held, None
            self.listen()
            self.server.sendall(data)

    def from_client(self):
        data = self.client.recv(65536)
        text = read("hold")
        if text and text in self.tail + data:
            self.hold(data)
            return
        self.tail = (self.tail + data)[-len(text):] if text else b""
        self.pass_on(data, self.server)

    def from_server(self):
        self.pass_on(self.server.recv(65536), self.client)

    def pass_on(self, data, to):
        if not data:
            self.cut()
        else:
            to.sendall(data)


def accept():
    client, _ = listener.accept()
    try:
        pairs.add(Pair(client))
    except (OSError, ValueError):
        client.close()


def asked():
    for what in signals.recv(64):
        if what == signal.SIGUSR1:
            for pair in list(pairs):
                pair.cut()
            write("now", read("to"))
        elif what == signal.SIGUSR2:
            for pair in pairs:
                pair.release()
            write("now", b"")


loop = selectors.DefaultSelector()
pairs = set()
signals, wake = socket.socketpair()
wake.setblocking(False)
signal.set_wakeup_fd(wake.fileno())
for number in signal.SIGUSR1, signal.SIGUSR2:
    signal.signal(number, lambda *_: None)
listener = socket.create_server(("127.0.0.1", 0))
loop.register(listener, selectors.EVENT_READ, accept)
loop.register(signals, selectors.EVENT_READ, asked)
write("port", b"%d" % listener.getsockname()[1])
while True:
    for key, _ in loop.select():
        # What was cut meanwhile is no longer there.
        if key.fileobj.fileno() < 0:
            continue
        try:
            key.data()
        except OSError:
            for pair in list(pairs):
                if key.fileobj in (pair.client, pair.server):
                    pair.cut()
