#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# A rebuild of a table: what is committed while it runs is in what readers get.
# shellcheck disable=SC2016 # hooks are expanded by their own shell
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset
load ../postgres

setup_file() {
	begin_set_file 8
	postgres_start
}

teardown_file() {
	redis_stop main
	postgres_stop
}

setup() {
	begin
	begin_set
	psql_run "DROP TABLE IF EXISTS cards;
		CREATE TABLE cards (id text, scope text);
		INSERT INTO cards SELECT 'C' || i, 'bank' FROM generate_series(1, 20000) i"
	cat >cards.keyspec <<-'END'
		[keyspec]
		version = 1
		name = cards
		key = card:{id}:{scope}
		buckets = 4
		filter = {name}:{bucket}
	END
	db=$(postgres_word)
}

from() {
	on "$1" -s "$db" --table cards "${@:2}"
}

from_ok() {
	on_ok "$1" -s "$db" --table cards "${@:2}"
}

# adding NAME N: a hook that commits so many rows.
adding() {
	cat >adding.sql <<-END
		INSERT INTO cards SELECT '$1' || i, 'bank'
			FROM generate_series(1, $2) i;
	END
	echo "psql -X -q -d '$db' -f adding.sql"
}

@test "pgrebuild: rows that are committed before the renames are found after it" {
	from_ok rebuild --receipt got.json --capacity 20000 \
		--before-swap "$(adding N 100)"
	assert_has "$output" 'is live' 'caught up 100 rows' \
		'keep recent-writes for' 'rows asked for are found'
	assert_json got.json '.exposure_s > 0' '.recent_ttl_s >= 1' \
		'.horizon.xid != null' '.acknowledged == 20100'
	from_ok verify -q --absent 0
	# And in the next one, which has one that is live before it.
	from_ok rebuild -q --capacity 20000 --before-swap "$(adding M 100)"
	from_ok verify -q --absent 0
}

@test "pgrebuild: it holds no snapshot while it waits for a hook" {
	from_ok rebuild -q --capacity 20000 --before-swap "
		psql -X -A -t -d '$db' -c \"SELECT count(*) FROM pg_stat_activity
			WHERE application_name LIKE 'bloomctl%'\" >open"
	[[ $(<open) == 0 ]]
}

@test "pgrebuild: live filters that lack what they had long before stop it" {
	from_ok rebuild -q --capacity 20000 --receipt got.json
	local live b others
	live=$(json .generation got.json)
	sentinel=$("$BLOOMCTL" key -k cards.keyspec --sentinel)
	for b in 0 1 2 3; do
		redis_cli main DEL "cards:$b"
		redis_cli main BF.RESERVE "cards:$b" 0.01 20000 NONSCALING
		mapfile -t others < <(seq -f "card:x%.0f" 6000)
		redis_cli main BF.MADD "cards:$b" "$sentinel" "${others[@]}" \
			>/dev/null
	done
	from rebuild --capacity 20000 --before-swap 'touch ran'
	assert_failure 81 rebuild "step 'swap'" "'$live' stays live"
	[[ ! -e ran ]]
}

@test "pgrebuild: without a way to catch up it is 64, unless nothing changes" {
	from rebuild --catch-up none
	assert_failure 64 rebuild '--catch-up none'
	from_ok rebuild -q --catch-up none --static
	from_ok verify -q --absent 0
}

@test "pgrebuild: a column that the table lacks is told by doctor, and nothing is built" {
	psql_run 'ALTER TABLE cards DROP COLUMN scope'
	from rebuild
	[[ $status != 0 ]]
	no_key_has generations
}
