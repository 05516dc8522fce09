#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The same as pipe.py, with redis-py in the place of redis-cli.

    psql -c 'COPY (SELECT entity_id, scope ...) TO STDOUT' | redispy.py SOCKET

Ten commands are one pipeline, and every answer is looked at.
"""

import sys

import redis

from pipe import batches

WINDOW = 10


def send(pipeline):
    for answer in pipeline.execute():
        for word in answer:
            if isinstance(word, Exception):
                raise word


def main():
    server = redis.Redis(unix_socket_path=sys.argv[1])
    pipeline = server.pipeline(transaction=False)
    for name, keys in batches(sys.stdin.buffer):
        pipeline.execute_command("BF.MADD", name, *keys)
        if len(pipeline) == WINDOW:
            send(pipeline)
    send(pipeline)


if __name__ == "__main__":
    main()
