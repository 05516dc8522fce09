#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Between bloomctl and a server, on unix sockets: it cuts and replaces.

    proxy.py LISTEN SERVER CONTROL

LISTEN is there once somebody can come.  SERVER may be several with commas
between them: connections lead to them in turn.  Each connection reads the file CONTROL
when it begins; it holds one of

    pass         everything goes through
    cut N        when N bytes of answers have gone through since CONTROL was
                 written, that connection is cut in the middle, and what
                 comes later goes through; CONTROL.cut is there then
    swap A B     each A in what the client sends is B; both of one length
    share        the number by which PostgreSQL says that a connection can be
                 cancelled is another one, as a proxy's that shares connections

It ends when its standard input does.
"""
import itertools
import os
import selectors
import socket
import sys

listen, servers, control = sys.argv[1:]
servers = itertools.cycle(servers.split(","))


def hide_number(data):
    """BackendKeyData: "K", its length of 12, the number, a secret."""
    head, mark, tail = data.partition(b"K\0\0\0\x0c")
    return head + mark + (b"\0\0\0\1" + tail[4:] if mark else tail)


class Proxy:
    def __init__(self):
        self.poll = selectors.DefaultSelector()
        self.seen = None
        self.left = None
        self.words = (b"", b"")
        self.share = False
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(listen + ".new")
        self.listener.listen(64)
        os.rename(listen + ".new", listen)
        self.poll.register(self.listener, selectors.EVENT_READ, None)
        self.poll.register(sys.stdin, selectors.EVENT_READ, None)

    def order(self):
        with open(control, "rb") as file:
            text = file.read()
            stamp = os.fstat(file.fileno())
        if (stamp.st_ino, stamp.st_mtime_ns) == self.seen:
            return
        self.seen = stamp.st_ino, stamp.st_mtime_ns
        what, *words = text.split()
        self.left = int(words[0]) if what == b"cut" else None
        self.words = tuple(words) if what == b"swap" else (b"", b"")
        self.share = what == b"share"

    def come(self):
        client, _ = self.listener.accept()
        self.order()
        real = socket.socket(socket.AF_UNIX)
        try:
            real.connect(next(servers))
        except OSError:
            client.close()
            return
        self.poll.register(client, selectors.EVENT_READ, (client, real, True))
        self.poll.register(real, selectors.EVENT_READ, (real, client, False))

    def end(self, one, other):
        for side in one, other:
            self.poll.unregister(side)
            side.close()

    def move(self, source, sink, asks):
        try:
            data = source.recv(65536)
            if data and asks and self.words[0]:
                data = data.replace(*self.words)
            cut = False
            if self.share and not asks:
                data = hide_number(data)
            if data and not asks and self.left is not None:
                cut = len(data) >= self.left
                data = data[:self.left]
                self.left = None if cut else self.left - len(data)
            sink.sendall(data)
            if cut:
                open(control + ".cut", "wb").close()
                self.end(source, sink)
                return True
        except OSError:
            data = b""
        if not data:
            self.end(source, sink)
            return True
        return False

    def run(self):
        while True:
            for key, _ in self.poll.select():
                if key.fileobj is sys.stdin:
                    return
                if key.fileobj is self.listener:
                    self.come()
                elif self.move(*key.data):
                    break  # what is behind it may be of this connection


Proxy().run()
