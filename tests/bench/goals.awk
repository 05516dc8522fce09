# SPDX-License-Identifier: BSD-2-Clause
#
# For tests/bench/postgres: "NAME wall cpu kib server" of each, the fastest, as
# a table, and beside it what the parts alone allow.  Times per row are in
# microseconds; the last number of "copy" is its backend's processor time.
#
#	W	the longer of COPY alone and adds alone, by the clock
#	C	processor time of COPY's backend, of the server's adds, and of
#		bloomctl where it adds nothing
#	T	max(W, C / cores): what all three together take at least

function per_row(seconds) {
	return seconds * 1e6 / rows
}

function either(given, figure) {
	return given ? figure : "-"
}

function line(name, title) {
	if (!(name in wall))
		return
	printf "%-28s %7.2f %10d %8.3f %8.3f %8s %8s %8s\n", title,
		wall[name], rows / wall[name], per_row(wall[name]),
		per_row(cpu[name]),
		either(name != "nothing", sprintf("%.3f", per_row(other[name]))),
		either(name !~ /^(copy|adds|nothing)$/,
			sprintf("%.2f", wall["pipe"] / wall[name])),
		either(name ~ /^build/,
			sprintf("%.2f", per_row(wall[name]) / T))
}

function goal(text, figure, limit, met) {
	printf "%-46s %5.2f   %-8s %s\n", text, figure, limit,
		met ? "met" : "missed"
}

{
	wall[$1] = $2
	cpu[$1] = $3
	other[$1] = $5
}

END {
	W = per_row(wall["copy"] > wall["adds"] ? wall["copy"] : wall["adds"])
	C = per_row(other["copy"] + other["adds"] + cpu["nothing"])
	T = W > C / cores ? W : C / cores
	best = wall["build-2"] < wall["build-1"] ? "build-2" : "build-1"
	jobs = substr(best, 7) " job" (best == "build-2" ? "s" : "")
	printf "%-28s %7s %10s %8s %8s %8s %8s %8s\n", "", "wall s",
		"rows/s", "us/row", "cpu", "server", "to pipe", "to T"
	line("copy", "psql COPY (and its backend)")
	line("adds", "redis-cli --pipe, prepared")
	line("nothing", "bloomctl into nothing")
	line("pipe", "psql | pipe.py | redis-cli")
	line("redis-py", "psql | redispy.py")
	line("build-1", "bloomctl build, 1 job")
	line("build-2", "bloomctl build, 2 jobs")
	printf "\nper row: W %.3f us; C %.3f + %.3f + %.3f = %.3f us on %d " \
		"cores; T %.3f us\n", W, per_row(other["copy"]),
		per_row(other["adds"]), per_row(cpu["nothing"]), C, cores, T
	goal("(a) wall to T, " jobs, per_row(wall[best]) / T, "<= 1.10",
		per_row(wall[best]) <= 1.1 * T)
	goal("(b) cpu of bloomctl into nothing, us/row",
		per_row(cpu["nothing"]), "<= 0.30", per_row(cpu["nothing"]) <= 0.3)
	goal("(c) speed to that of the pipe, " jobs, wall["pipe"] / wall[best],
		">= 1.5", wall["pipe"] >= 1.5 * wall[best])
	# Left alone, its backend is what psql waits for, and all that it does.
	if (wall["copy"] > 1.2 * other["copy"])
		printf "\nCOPY alone took %.2f times its backend's processor " \
			"time: the machine had\nother things to do, and (a) " \
			"says nothing.\n", wall["copy"] / other["copy"]
}
