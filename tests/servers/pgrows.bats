#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The table that this is made for, from a standby into servers and a folder:
# not one row of it is missing.  CARDS_ROWS says how many there are.
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset
load ../postgres

setup_file() {
	export CARDS_ROWS=${CARDS_ROWS:-200000}
	begin_set_file 10
	postgres_start
	postgres_standby copy
	psql_run "$(<"$BATS_TEST_DIRNAME/cards.sql")" -v rows="$CARDS_ROWS"
	postgres_follows copy
	# What is asked for without bloomctl: all of them, or of very many some.
	psql_run "COPY (SELECT entity_id, scope FROM cards
		WHERE substr(entity_id, 2)::int %
			(1 + ($CARDS_ROWS - 1) / 200000) = 0)
		TO STDOUT (FORMAT csv, HEADER)" >asked.csv
}

teardown_file() {
	redis_stop main
	postgres_stop copy
	postgres_stop
}

setup() {
	begin
	cat >cards.keyspec <<-'END'
		[keyspec]
		version = 1
		name = cards
		key = card:{id}:{scope}
		buckets = 200
		filter = {name}:{bucket}
		[field id]
		column = entity_id
	END
	begin_set
}

# timed COMMAND OPTION...: on_ok, and how long it took.
timed() {
	local began=${EPOCHREALTIME/./}
	on_ok "$@"
	echo "# ${target%%:*}, ${*}: $(((${EPOCHREALTIME/./} - began) / 1000)) ms" |
		sed "s/ -s [^-]* --table cards/ $CARDS_ROWS rows/" >&3
}

# from_standby COMMAND OPTION...: of all rows.
from_standby() {
	timed "$1" -s "$(postgres_word copy)" --table cards "${@:2}"
}

# whole [OPTION...]: a build of all rows is promoted, and none is missing.
whole() {
	from_standby build -q --receipt built.json "$@"
	assert_json built.json ".rows == $CARDS_ROWS" .source.origin.standby
	on_ok swap -q --static
	from_standby verify -q --receipt verified.json "$@"
	assert_json verified.json ".rows == $CARDS_ROWS" '.missing == 0'
}

@test "pgrows: all rows of a standby get into 200 filters of a server" {
	local b n=0
	whole
	all_of asked.csv
	for b in {000..199}; do
		[[ $(redis_cli main EXISTS "cards:$b") == 0 ]] || n=$((n + 1))
	done
	((n == 200)) || fail "there are $n filters"
}

@test "pgrows: with two jobs, too" {
	whole -j 2
	assert_json built.json '.source.origin.again == false'
	all_of asked.csv
}

# exported WORD...: through files that an export wrote, nothing is lost.
exported() {
	local began=${EPOCHREALTIME/./}
	bloomctl_ok export -q -s "$(postgres_word copy)" --table cards \
		-k cards.keyspec -t file:cards -j 2 "$@"
	echo "# export of $CARDS_ROWS rows, ${*}: $(((${EPOCHREALTIME/./} - began) / 1000)) ms" >&3
	timed build -q -s file:cards -j 2 --receipt built.json
	assert_json built.json ".rows == $CARDS_ROWS" .source.origin.standby \
		'.horizon.relation > 0'
	on_ok swap -q --static
	from_standby verify -q --receipt verified.json
	assert_json verified.json ".rows == $CARDS_ROWS" '.missing == 0'
}

@test "pgrows: through files, as rows and as keys" {
	exported --compress zstd
	all_of asked.csv
	exported --canonical
	all_of asked.csv
}

@test "pgrows: rows that a server has not are counted, all of them" {
	local gone
	from_standby build -q --where 'status = 1'
	on_ok swap -q --static
	on verify -q -s "$(postgres_word copy)" --table cards \
		--receipt verified.json
	assert_status 81
	gone=$(json .missing verified.json)
	# But for those that a filter takes for one of its own.
	((gone > CARDS_ROWS * 98 / 1000 && gone <= CARDS_ROWS / 10)) ||
		fail "$gone are missing"
}

@test "pgrows: into a folder, with one job and with two the same bits" {
	target=dir:t
	on() {
		bloomctl_run "$1" -k cards.keyspec -t "$target" "${@:2}"
	}
	whole
	target=dir:two
	whole -j 2
	assert_same_bits t/*/2* two/*/2*
}

# horizon_is FILTER: jq's of what inspect says of the set's.
horizon_is() {
	on inspect --format json
	[[ $(jq -c .horizon <<<"$output") == "$(jq -c "$1" built.json)" ]] ||
		fail "the horizon is $(jq -c .horizon <<<"$output")"
}

@test "pgrows: every filter says from where on it may lack something" {
	local text
	from_standby build -q --receipt built.json
	assert_json built.json '.horizon.relation > 0' \
		'.horizon.xid == (.source.origin.snapshot | split(":")[0])' \
		'.horizon.lsn == .source.origin.lsn'
	on_ok swap -q --static
	horizon_is .horizon
	text=$(state_of 000 horizon)
	[[ $text == [1-9]*" 0 $(json '.horizon.xid + " " + .horizon.lsn + " " +
		(.horizon.timeline | tostring) + " " +
		(.horizon.relation | tostring) + " " + .horizon.system' built.json)" ]]
	[[ $(state_of 199 horizon) == "$text" ]]
	# The oldest is that of the set.
	read -ra words <<<"$text"
	words[2]=$((words[2] - 1))
	redis_cli main HSET '{cards:007}:bloomctl' horizon "${words[*]}"
	horizon_is '.horizon.xid |= (tonumber - 1 | tostring) | .horizon'
	# A stamp is the set's only where all filters have one.
	words[1]=1796000000000
	redis_cli main HSET '{cards:007}:bloomctl' horizon "${words[*]}"
	horizon_is '.horizon.xid |= (tonumber - 1 | tostring) | .horizon'
	for b in {000..199}; do
		redis_cli main HSET "{cards:$b}:bloomctl" horizon \
			"${words[*]}" >/dev/null
	done
	horizon_is '.horizon.xid |= (tonumber - 1 | tostring) |
		.horizon.since = "2026-11-30T00:53:20.000Z" | .horizon'
	on inspect
	assert_has "$output" ", stamp 2026-11-30T00:53:20.000Z, WAL "
	# Of another cluster, without one, or unreadable: there is none.
	words[6]=7
	redis_cli main HSET '{cards:007}:bloomctl' horizon "${words[*]}"
	horizon_is null
	redis_cli main HSET '{cards:007}:bloomctl' horizon '1 0'
	horizon_is null
	redis_cli main HDEL '{cards:007}:bloomctl' horizon
	horizon_is null
	# A file has none.
	on_ok build -q -s file:asked.csv
	on_ok swap -q --static --allow-shrink
	horizon_is null
	[[ -z $(state_of 000 horizon) ]]
	target=dir:t
	from_standby build -q --receipt built.json
	on_ok swap -q --static
	horizon_is .horizon
}
