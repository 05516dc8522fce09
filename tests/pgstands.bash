# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# pgstands: a COPY that stands still in the middle of the table `cards` of
# 300,000 rows (tests/servers/cards.sql) until it is let go, for Bats files
# after helpers and postgres.
#
#	stands_setup		for setup(): what is live, and the keyspec of cards
#	begins OPTION...	a build in the background comes to that row
#	those pg_terminate_backend	all sessions of ours that stand there
#	unblocks		whoever stands there goes on
#	ends STATUS		the build has ended
#	left_alone		what is live is, and nothing else can be
#	moved, cut_off_again	whole courses of events
#	stands_teardown		for teardown(): nothing is left of these
#
# $server is the one that has the table, $word what -s takes for it where that
# is another address, $table the one that is read where it is another, $target
# where to (dir:t unless told); $does is another command than build.

# The row at which it does, of the middle third of the table's pages.
middle=c0000150000
stands="CASE WHEN entity_id = '$middle' THEN
	pg_advisory_lock_shared(1) IS NOT NULL ELSE true END"

# stands_file: for setup_file(), t with a generation that is live.
stands_file() {
	write_csv rows.csv 1 200
	make_live rows.csv
}

stands_keyspec() {
	cat >c.keyspec <<-'END'
		[keyspec]
		version = 1
		name = cards
		key = card:{id}:{scope}
		buckets = 4
		filter = {name}:{bucket}
		[field id]
		column = entity_id
	END
}

stands_setup() {
	begin
	cp -R "$BATS_FILE_TMPDIR/t" .
	stands_keyspec
	live=$(readlink t/*/live)
	server=main
}

left_alone() {
	[[ $(readlink t/*/live) == "$live" ]] || fail "it is not live any more"
	bloomctl_ok verify -q -k cards.keyspec -t dir:t \
		-s "file:$BATS_FILE_TMPDIR/rows.csv"
	bloomctl_run swap -k c.keyspec -t dir:t
	((status == 83 || status == 66)) || fail "a swap ended with $status"
}

# asked SQL: of $server.
asked() {
	[[ $(psql_run "$1") == t ]]
}

unlocked() {
	# By others than ours, who come and go.
	asked "SELECT count(*) = 0 FROM pg_locks WHERE locktype = 'advisory'"
}

# holds SQL: a session of $server in the background, which has run that, until
# unblocks.
# shellcheck disable=SC2154 # of the test, and of postgres_bin()
holds() {
	postgres_bin
	mkfifo sql
	"$postgres_bin/psql" -X -q -h "$(postgres_socket "$server")" \
		-p "$(postgres_port "$server")" -U postgres \
		<sql >psql.out 2>&1 3>&- &
	blocker=$!
	exec {sql}>sql
	echo "$1" >&"$sql"
}

# blocks: whoever comes to that row waits there.
blocks() {
	holds 'SELECT pg_advisory_lock(1);'
	wait_until asked "SELECT count(*) = 1 FROM pg_locks
		WHERE locktype = 'advisory' AND granted"
}

unblocks() {
	kill "$blocker"
	wait "$blocker" || :
	exec {sql}>&-
	rm sql
	blocker=
	wait_until unlocked
}

# waits: one of ours stands there.
waits() {
	asked "SELECT count(*) = 1 FROM pg_stat_activity WHERE
		application_name = 'bloomctl' AND wait_event = 'advisory'"
}

# one_waits: one of ours stands there, and all others have nothing to do.
one_waits() {
	waits && asked "SELECT count(*) = 1 FROM pg_stat_activity WHERE
		application_name = 'bloomctl' AND state = 'active'"
}

begins() {
	local more=(--capacity 200000)
	[[ ${does:-build} == build ]] || more=()
	blocks
	"$BLOOMCTL" "${does:-build}" -q -k c.keyspec -t "${target:-dir:t}" \
		-s "${word:-$(postgres_word "$server")}" "${more[@]}" \
		--table "${table:-cards}" --where "$stands" \
		--receipt r.json "$@" \
		>said.out 2>said.err 3>&- &
	pid=$!
	wait_until waits
}

# ends STATUS
# shellcheck disable=SC2034 # which is for the test
ends() {
	status=0
	wait "$pid" || status=$?
	pid=
	output=$(<said.out) stderr=$(<said.err)
	show_run bloomctl "${does:-build}"
	assert_status "$1"
}

# those FUNCTION: of all our sessions at the row.
those() {
	psql_run "SELECT $1(pid) FROM pg_stat_activity
		WHERE application_name = 'bloomctl' AND wait_event = 'advisory'" \
		>/dev/null
}

# moved: with two jobs, rows move to a page that was read by then, and the
# range that they were in is cut off and read again; it ends well.
moved() {
	begins -j 2
	wait_until one_waits
	# It moves to a page that was read by now.
	psql_run "UPDATE cards SET status = 5 WHERE entity_id > 'c0000149990'
		AND entity_id <= '$middle'"
	# The others are idle, and would be taken with their old snapshot.
	psql_run "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE application_name = 'bloomctl'" >/dev/null
	unblocks
	ends 0
}

# cut_off_again: a range is cut off until that is enough, and all else is
# left_alone.
cut_off_again() {
	begins -j 2
	for _ in 1 2 3 4; do
		wait_until waits
		those pg_terminate_backend
	done
	ends 75
	assert_one_sentence build "table 'public.cards', pages" \
		'terminating connection'
	unblocks
	left_alone
}

stands_teardown() {
	if [[ -n ${pid-} ]]; then
		kill -KILL "$pid" || :
	fi 2>/dev/null
	if [[ -n ${blocker-} ]]; then
		kill "$blocker" || :
		! psql_run SELECT || wait_until unlocked
	fi 2>/dev/null
}
