# SPDX-License-Identifier: BSD-2-Clause
"""What a run of the proof acts upon: the table, the set, recent-writes, and
what is known of them by now."""

import json
import math
import os
import random
import subprocess
import threading
import time

# Seconds for which recent writes are kept while no run has told.
LONG = 600
# Of a run that is not heard of any more, in seconds.
LEASE = 1
REBUILD = ("--capacity", "100000", "--absent", "1000", "--allow-shrink")
# What a run may end with, for a reason that passes: a lock that somebody
# holds, or a swap that somebody has left unfinished.
PASSES = (75, 82, 84)


class Wrong(Exception):
    """Something that a run of the proof must not come to."""


class World:
    def __init__(self, args, config, places):
        self.args, self.config = args, config
        self.deadline = time.time() + args.seconds
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.failures, self.exposures = [], []
        self.counts = dict.fromkeys(
            ("rebuild", "sync", "rollback", "passing", "killed_runs",
             "killed_writers", "checks"), 0)
        self.asked = dict(filter=0, recent=0, passed=0)
        self.printed = 0
        self.swaps = 0  # odd while filters may be on the move
        self.folder = os.getcwd()
        self.schema = f"proof_{config['seed']}_{os.getpid()}"
        # Where nobody looks, for writers that are to be caught.
        self.elsewhere = places["stand-in" if config["target"] != "stand-in"
                                else "single"]
        self.place = places.get(config["target"], places["single"])
        self.on_server = config["target"] != "dir"
        self.target = ("redis://" + self.place if self.on_server
                       else "dir:" + os.path.abspath("filters"))

    # --- what goes on -----------------------------------------------------

    def random(self, lane):
        return random.Random(f"{self.config['seed']} {lane}")

    def running(self):
        return not self.over.is_set() and time.time() < self.deadline

    def sleep(self, seconds):
        """Until then, or the end of the run; whether it goes on."""
        self.over.wait(max(0, min(seconds, self.deadline - time.time())))
        return self.running()

    def fail(self, text):
        with self.lock:
            self.failures.append(text)
        self.over.set()

    def fail_if(self, text):
        if text is not None:
            self.fail(text)

    def count(self, what, n=1):
        with self.lock:
            self.counts[what] += n

    # --- the table --------------------------------------------------------

    def sql(self, text, where=None):
        said = subprocess.run(
            [self.args.psql, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1",
             "-d", where or self.args.primary, "-f", "-"],
            input=text, capture_output=True, text=True, check=True)
        return said.stdout.strip()

    def database(self):
        """For writers, whose table is in a schema of its own."""
        options = f"-csearch_path={self.schema}"
        if self.config["asynchronous"]:
            options += " -csynchronous_commit=off"
        return f"{self.args.primary} options='{options}'"

    def drop_prepared(self, pid):
        """What a writer that was killed had prepared."""
        for name in self.sql("SELECT gid FROM pg_prepared_xacts WHERE gid "
                             f"LIKE 'service-{pid}-%'").split():
            self.sql(f"ROLLBACK PREPARED '{name}'")

    # --- bloomctl ---------------------------------------------------------

    def bloomctl(self, command, *options):
        """The words of a command on the set."""
        rows = ["--table", self.schema + ".cards", "--where", "status = 1",
                "--writer", self.args.primary]
        source = self.args.primary
        if self.config["source"] == "standby":
            source = self.args.standby
        if self.config["catch_up"] == "stamp":
            rows += ["--changed-column", "updated_at"]
        if command in ("swap", "sync", "rebuild"):
            rows += ["--catch-up", self.config["catch_up"],
                     "--max-lag", "3s"]
            if self.on_server:
                rows += ["--lease", f"{LEASE}s"]
        return [f"{self.args.build}/bloomctl", command, "-q",
                "-k", "cards.keyspec", "-t", self.target, "-s", source,
                *rows, *options]

    def took(self, receipt):
        """A run has ended well, and told for how long rows were exposed."""
        with open(receipt, encoding="utf-8") as f:
            told = json.load(f)
        if told.get("exposure_s") is None:
            return
        with self.lock:
            self.exposures.append(told["exposure_s"])
            self.printed = max(self.printed, told["recent_ttl_s"])
            if len(self.exposures) > 3:
                self.keep(self.printed)

    def keep(self, seconds):
        """Writers keep recent writes for so long from now on."""
        # A run that is killed costs its lease and the time until the next.
        if self.config["kill_runs"] > 0 and seconds != LONG:
            seconds += 2 * LEASE + 2 * self.config["interval"] + 2
        with open("ttl.new", "w", encoding="ascii") as f:
            f.write(f"{math.ceil(seconds)}\n")
        os.rename("ttl.new", "ttl")

    # --- begin and end ----------------------------------------------------

    def begin(self):
        with open("cards.keyspec", "w", encoding="ascii") as f:
            f.write("[keyspec]\nversion = 1\n"
                    f"name = {self.schema.replace('_', '-')}\n"
                    "key = card:{entity_id}:{scope}\n"
                    f"buckets = {self.config['buckets']}\n"
                    "filter = {name}:{bucket}\n")
        with open("log", "w", encoding="ascii"):
            pass
        self.keep(LONG)
        self.sql(f"""
            CREATE SCHEMA {self.schema};
            CREATE TABLE {self.schema}.cards (entity_id text NOT NULL,
                scope text NOT NULL, status smallint NOT NULL,
                updated_at timestamptz NOT NULL DEFAULT now(),
                PRIMARY KEY (entity_id, scope));
            CREATE INDEX ON {self.schema}.cards (updated_at);
            INSERT INTO {self.schema}.cards SELECT 'c' || i, 'global', 1
                FROM generate_series(1, {self.config['rows']}) AS g (i);""")
        self.must("rebuild", *REBUILD)

    def must(self, command, *options):
        """Nobody is in the way, so it ends well."""
        run = subprocess.run(self.bloomctl(command, *options),
                             capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise Wrong(f"{command} ended with {run.returncode}: "
                        f"{run.stdout}{run.stderr}")

    def end(self):
        self.over.set()
        try:
            self.sql(f"DROP SCHEMA IF EXISTS {self.schema} CASCADE")
        except subprocess.CalledProcessError as e:
            self.failures.append(e.stderr)

    def result(self):
        with open(os.path.join(self.folder, "log"), encoding="ascii") as f:
            lines = sum(1 for _ in f)
        return {"seed": self.config["seed"], "wrong": len(self.failures),
                "committed": lines, "asked": self.asked, **self.counts,
                "kept_s": self.printed, "exposures": self.exposures}
