#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# bloomctl lookup through all tiers: filter, recent-writes, cache, PostgreSQL,
# and every way in which they contradict each other.
# shellcheck disable=SC2016 # $1 is the server's, in a statement
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset
load ../postgres

setup_file() {
	begin_set_file 2000 2600
	postgres_start main -c log_statement=all
	postgres_standby copy
	postgres_start other
	psql_run "
		CREATE SCHEMA blocked;
		CREATE TABLE cards (id text, scope text, expires_at timestamptz,
			PRIMARY KEY (id, scope));
		INSERT INTO cards
			SELECT i, 'm:' || i % 7 FROM generate_series(1, 2000) AS i;
		CREATE TABLE odd (id int PRIMARY KEY, scope char(8));
		INSERT INTO odd VALUES (7, 'm:0');
		CREATE TABLE soft (id text, scope text, \"no \"\"sub\" text);
		INSERT INTO soft VALUES ('7', 'm:0', '');
		ANALYZE cards;
	"
	postgres_follows copy
}

teardown_file() {
	postgres_stop other
	postgres_stop copy
	postgres_stop
	redis_stop main
}

setup() {
	begin
	begin_set
	server_live rows.csv
	word=$(postgres_word main)
}

# ask OPTION...: lookup in the table.
ask() {
	on lookup -s "$word" --table cards "$@"
}

# asks STATUS VERDICT OPTION...: lookup as JSON, which is in got.json.
asks() {
	ask --format json "${@:3}"
	assert_status "$1"
	printf '%s\n' "$output" >got.json
	assert_json got.json ".verdict == \"$2\""
	[[ $1 == 81 ]] || assert_stderr_is ''
}

# loud TEXT...: readers are told no, and one sentence says so.
loud() {
	local output=''
	assert_status 81
	assert_one_sentence lookup 'a functional false negative' "$@"
}

set_key() {
	redis_cli main SET "$@" >/dev/null
}

# as_writer STATEMENT
as_writer() {
	server=main psql_run "$1"
}

# --- who answers what -----------------------------------------------------

@test "tiers: each that is asked has its line, and they agree" {
	set_key cache:card:5:m:5 SECRET
	set_key recent:card:5:m:5 SECRET PX 100000
	ask --recent 'recent:{key}' --cache 'cache:{key}' 5 m:5
	assert_status 0
	assert_stderr_is ''
	assert_lacks "$output" SECRET
	[[ $output == *'answer '*'maybe a member'*'
recent-writes  has it, for another '*'
cache          has it, without an end
database       has the row (primary '"'$(postgres_socket main)/"*'
verdict        the tiers agree' ]] || fail "another answer"
	asks 0 agree --recent 'recent:{key}' --cache 'cache:{key}' 5 m:5
	assert_json got.json '.found' '.database.found' '.recent.found' \
		'.recent.ttl_ms > 90000' '.recent.ttl_ms <= 100000' \
		'.cache.found' '.cache.ttl_ms == null' '.shadow == null' \
		'.database.standby == false' '.database.expired == false' \
		'.recent.replica == false' '.database.name == "postgres"' \
		'.database.other_key == false'
	on lookup --format csv -s "$word" --table cards 5 m:5
	assert_has "$output" 'verdict,the tiers agree'
}

@test "tiers: what was not asked has no line and no verdict" {
	on_ok lookup 5 m:5
	assert_lacks "$output" recent-writes cache database verdict shadow
	on_ok lookup --format json 5 m:5
	printf '%s\n' "$output" >got.json
	assert_json got.json '.recent == null' '.cache == null' \
		'.database == null' '.verdict == null'
}

@test "tiers: what is in none of them is certainly not a member" {
	asks 1 agree --recent 'recent:{key}' --cache 'cache:{key}' 900001 m:1
	assert_json got.json '.found == false' '.database.found == false' \
		'.recent.found == false' '.cache.found == false'
}

# statement: the last one in the server's log that asks for a row.
statement() {
	sed -n '/execute <unnamed>: SELECT "/,/^[0-9]/p' \
		"$BATS_FILE_TMPDIR/postgres.main.log" |
		sed -n 'H
			/execute <unnamed>: SELECT "/ { s/.*<unnamed>: //; h; }
			$ { g; p; }' |
		grep -v '^[0-9].* DETAIL: '
}

@test "tiers: the row is asked for by an index, its values apart from the SQL" {
	local words plan
	for words in '--table cards' '--table cards --where=id<>scope--x' \
		'--query=TABLE/**/public.cards--x'; do
		# shellcheck disable=SC2086 # words
		on lookup -q -s "$word" $words SECRET "m:'1"
		assert_status 1
		statement >asked
		assert_has "$(<asked)" '."id" = $1 AND ' '."scope" = $2'
		assert_lacks "$(<asked)" SECRET
		plan=$(as_writer "PREPARE p AS $(<asked);
			EXPLAIN EXECUTE p('SECRET', 'm:''1')")
		assert_has "$plan" 'using cards_pkey' 'Index Cond: ((id = '
	done
}

@test "tiers: --stdin has values and NULLs that the command line has not" {
	local keyed=(-k null.keyspec -t "$target")
	write_keyspec null.keyspec name=null 'key={id}:{scope}:{sub}' - <<-'END'
		[field sub]
		column = no "sub
		null = empty
		empty = allow
	END
	printf 'id,scope,"no ""sub"\n7,m:0,\n' | sed 's/m:0/m0/' >one.csv
	as_writer "TRUNCATE soft; INSERT INTO soft VALUES ('7', 'm0', NULL)"
	bloomctl_ok build -q "${keyed[@]}" -s file:one.csv
	bloomctl_ok swap -q "${keyed[@]}"
	local ask=(lookup "${keyed[@]}" --stdin -s "$word" --table soft --format json)
	bloomctl_run "${ask[@]}" <<<$'7\tm0\t\\N'
	assert_status 0
	assert_has "$output" '"verdict": "agree"' '"found": true'
	# The empty value has the same key, and is another value.
	bloomctl_run "${ask[@]}" <<<$'7\tm0\t'
	assert_status 0
	assert_has "$output" '"verdict": "false-positive"'
	bloomctl_run "${ask[@]}" --input-format csv <<<$'id,scope,"no ""sub"\n7,m0,'
	assert_status 0
	assert_has "$output" '"verdict": "agree"'
	# No text of the database has a NUL.
	bloomctl_run "${ask[@]}" <<<$'7\tm0\\000\t\\N'
	assert_status 1
	assert_has "$output" '"verdict": "agree"'
}

@test "tiers: a keyed field is asked for by its value, from standard input" {
	export SALT=0123456789abcdef
	write_keyspec keyed.keyspec name=keyed - <<-'END'
		[field id]
		transform = hmac-sha256
		secret = env:SALT
	END
	bloomctl_ok build -q -k keyed.keyspec -t "$target" -s file:rows.csv
	bloomctl_ok swap -q -k keyed.keyspec -t "$target"
	local ask=(lookup -k keyed.keyspec -t "$target" -s "$word" --table cards)
	bloomctl_run "${ask[@]}" --stdin <<<$'5\tm:5'
	assert_status 0
	assert_has "$output" 'has the row' 'the tiers agree'
	as_writer "INSERT INTO cards VALUES ('SECRET', 'm:1')"
	bloomctl_run "${ask[@]}" --stdin <<<$'SECRET\tm:1'
	loud
	assert_lacks "$output$stderr" SECRET
	as_writer "DELETE FROM cards WHERE id = 'SECRET'"
	bloomctl_run "${ask[@]}" 5 m:5
	assert_failure 64 lookup 'keyed'
}

# shown N: the Nth display of the page's example.
shown() {
	sed -n '/^\.\\" tiers/,/^\.Sh/p' \
		"$BATS_TEST_DIRNAME/../../man/bloomctl-lookup.1" |
		awk -v n="$1" '/^\.Bd/ { i++; next } /^\.Ed/ { i += 0.5; next }
			i == n + (n - 1) / 2' | sed 's/\\e$/\\/'
}

# as_shown: without what differs from run to run.
as_shown() {
	sed -E 's/[0-9]{8}T[0-9]{6}Z-[0-9a-f]{4}/ID/; s/another .*/another T/
		s/\(primary .*/(primary P)/'
}

@test "tiers: the example of bloomctl-lookup(1) prints what is shown" {
	cat >blocked_cards.keyspec <<-'END'
		[keyspec]
		version = 1
		name    = blocked_cards
		key     = card:{entity_id}:{scope}
		buckets = 8
		filter  = {name}:{bucket}
	END
	printf '[primary]\nhost=%s\nport=%s\ndbname=postgres\nuser=postgres\n' \
		"$(postgres_socket main)" "$(postgres_port main)" >services
	printf 'entity_id,scope\n1,global\n' >one.csv
	bloomctl_ok build -q -k blocked_cards.keyspec -t "$target" -s file:one.csv
	bloomctl_ok swap -q -k blocked_cards.keyspec -t "$target"
	as_writer "CREATE TABLE blocked.cards (entity_id text, scope text);
		INSERT INTO blocked.cards VALUES ('4712', 'global')"
	set_key recent:card:4712:global '' PX 540000
	shown 1 | sed "s|redis://localhost|$target|; s|^bloomctl|'$BLOOMCTL'|" >job
	PGSERVICEFILE=$PWD/services any_run bash job
	assert_status 0
	shown 2 | as_shown >expected
	as_shown <<<"$output" | diff -u expected -
}

# --- contradictions -------------------------------------------------------

@test "tiers: a row that only the database has is 81, and said loudly" {
	as_writer "INSERT INTO cards VALUES ('SECRET', 'm:1')"
	ask SECRET m:1
	loud "filter 'cards:" "generation '$live'" 'the database has the row' \
		'certainly is not there'
	assert_has "$stderr" 'hint: readers are told no' 'see --recent'
	assert_has "$output" 'certainly not a member' 'has the row (primary' \
		'a functional false negative: readers are told no'
	assert_lacks "$stderr" SECRET 'nor is it in recent-writes'
	asks 81 false-negative --recent 'recent:{key}' SECRET m:1
	assert_has "$stderr" 'and nor is it in recent-writes' 'add it again'
	ask -q SECRET m:1
	assert_failure 81 lookup 'a functional false negative'
	as_writer "DELETE FROM cards WHERE id = 'SECRET'"
	asks 1 agree SECRET m:1
}

@test "tiers: what is in recent-writes is covered, and readers are told maybe" {
	as_writer "INSERT INTO cards VALUES ('2101', 'm:1')"
	asks 81 false-negative --recent '{recent}:{key}' 2101 m:1
	set_key '{recent}:card:2101:m:1' ''
	asks 0 covered --recent '{recent}:{key}' 2101 m:1
	assert_json got.json '.found == false' '.recent.found' '.database.found'
	ask --recent '{recent}:{key}' 2101 m:1
	assert_has "$output" 'recent-writes covers the row, which is not in the filter yet'
	as_writer "DELETE FROM cards WHERE id = '2101'"
	# As after a rollback.
	asks 0 false-positive --recent '{recent}:{key}' 2101 m:1
	on lookup -q --recent '{recent}:{key}' 2101 m:1
	assert_status 0
}

@test "tiers: an entry of the cache without a row is stale" {
	set_key cache:card:2102:m:2 x
	asks 1 stale-cache --cache 'cache:{key}' 2102 m:2
	ask --cache 'cache:{key}' 2102 m:2
	assert_status 1
	assert_has "$output" 'the entry of the cache is stale: there is no such row'
	as_writer "DELETE FROM cards WHERE id = '9'"
	set_key cache:card:9:m:2 x
	asks 0 stale-cache --cache 'cache:{key}' 9 m:2
	# Nobody asked the database: one of the two is wrong.
	on lookup --cache 'cache:{key}' --format json 2102 m:2
	assert_status 1
	assert_has "$output" '"verdict": "denied-cache"'
	as_writer "INSERT INTO cards VALUES ('9', 'm:2')"
	asks 0 agree --cache 'cache:{key}' 9 m:2
}

@test "tiers: an entry past the row's time is stale, and so is no member" {
	as_writer "UPDATE cards SET expires_at = now() - interval '1s' WHERE id = '11';
		UPDATE cards SET expires_at = now() + interval '1h' WHERE id = '12';
		INSERT INTO cards VALUES ('2103', 'm:3', '-infinity')"
	set_key cache:card:11:m:4 x
	set_key cache:card:12:m:5 x
	set_key cache:card:13:m:6 x
	asks 0 expired-cache --expires expires_at --cache 'cache:{key}' 11 m:4
	assert_json got.json '.database.found == false' '.database.expired'
	ask --expires expires_at --cache 'cache:{key}' 11 m:4
	assert_has "$output" 'has the row, whose time is past' \
		"the entry of the cache is stale: the row's time is past"
	asks 0 agree --cache 'cache:{key}' 11 m:4
	asks 0 agree --expires expires_at --cache 'cache:{key}' 12 m:5
	asks 0 agree --expires expires_at --cache 'cache:{key}' 13 m:6
	# It is no longer in force: the filter need not have it.
	asks 1 agree --expires expires_at 2103 m:3
	asks 81 false-negative 2103 m:3
	as_writer "DELETE FROM cards WHERE id = '2103'"
}

@test "tiers: a maybe without a row is a false positive" {
	as_writer "DELETE FROM cards WHERE id = '15'"
	asks 0 false-positive 15 m:1
	ask 15 m:1
	assert_has "$output" 'does not have the row' 'maybe was wrong: a false positive'
	as_writer "INSERT INTO cards VALUES ('15', 'm:1')"
	asks 0 false-positive --where "id <> '15'" 15 m:1
	asks 0 agree --where "id = '15' -- x" 15 m:1
}

@test "tiers: a row that makes another key is told from one that is missing" {
	on lookup -s "$word" --table odd --format json 7 m:0
	assert_status 0
	assert_has "$output" '"verdict": "other-key"'
	# The filter has neither the key as given nor any other.
	as_writer "INSERT INTO odd VALUES (900007, 'm:0')"
	on lookup -s "$word" --table odd 0900007 m:0
	loud 'which makes another key'
	assert_has "$stderr" 'hint: readers and the build derive different keys'
	on lookup -s "$word" --table odd SECRET m:0
	assert_failure 65 lookup "table 'public.odd'" SQLSTATE
	assert_lacks "$stderr" SECRET
	assert_has "$stderr" 'as it was given'
}

@test "tiers: only what is live can lack a row" {
	as_writer "INSERT INTO cards VALUES ('2500', 'm:1')"
	server_live more.csv
	asks 0 agree 2500 m:1
	before=$(other_than "$live")
	asks 1 not-live -g "$before" 2500 m:1
	asks 0 agree -g "$before" 5 m:5
	as_writer "DELETE FROM cards WHERE id = '2500'"
}

# --- generations that come, standbys, replicas ----------------------------

@test "tiers: the shadow of what comes next is asked, too" {
	server_build more.csv
	on lookup --format json 2500 m:1
	assert_status 1
	printf '%s\n' "$output" >got.json
	assert_json got.json '.found == false' '.shadow.found' \
		".shadow.generation == \"$built\"" '.shadow.state == "complete"'
	on lookup 2500 m:1
	assert_has "$output" "shadow      $built (complete): maybe a member"
	on lookup 900001 m:1
	assert_has "$output" "shadow      $built (complete): certainly not"
	on_ok swap -q
	on lookup 2500 m:1
	assert_status 0
	assert_lacks "$output" shadow
}

@test "tiers: the shadow of a build under way says what it has so far" {
	slow_build
	on_ok lookup 5 m:5
	assert_has "$output" "shadow      $building (building): "
	on_ok lookup --format json 5 m:5
	printf '%s\n' "$output" >got.json
	assert_json got.json ".shadow.generation == \"$building\"" \
		'.shadow.state == "building"'
	feed 4
	ends 0
}

@test "tiers: a standby's answer is labelled, and the writer has the last word" {
	word=$(postgres_word copy)
	asks 0 agree 5 m:5
	assert_json got.json '.database.standby'
	ask 5 m:5
	assert_has "$output" 'has the row (standby '
	# It falls behind.
	server=copy psql_run 'SELECT pg_wal_replay_pause()' >/dev/null
	wait_until paused
	as_writer "INSERT INTO cards VALUES ('2104', 'm:4')"
	set_key cache:card:2104:m:4 x
	asks 1 stale-cache --cache 'cache:{key}' 2104 m:4
	ask --cache 'cache:{key}' 2104 m:4
	assert_has "$output" 'or the standby is behind' 'does not have the row (standby '
	asks 81 false-negative --writer "$(postgres_word main)" 2104 m:4
	assert_json got.json '.database.standby == false'
	on lookup --writer "$(postgres_word main)" --table cards 2104 m:4
	loud
	server=copy psql_run 'SELECT pg_wal_replay_resume()' >/dev/null
	postgres_follows copy
	ask 2104 m:4
	loud
	assert_has "$stderr" 'ask the primary, too, with --writer'
	as_writer "DELETE FROM cards WHERE id = '2104'"
	asks 1 agree --writer "$(postgres_word main)" 2104 m:4
	on lookup -s "$word" --writer "$(postgres_word other)" --table cards 5 m:5
	assert_failure 66 lookup 'is not of the cluster of the source'
	on lookup -s host=/nowhere --writer "$(postgres_word main)" \
		--table cards 5 m:5
	assert_status 0
	assert_has "$stderr" 'the source cannot be asked whether the writer'
	ask --writer "$word" 5 m:5
	assert_failure 66 lookup 'is a standby, where the writer is to be asked'
}

paused() {
	[[ $(server=copy psql_run 'SELECT pg_get_wal_replay_pause_state()') == paused ]]
}

@test "tiers: a replica's word on recent-writes is labelled" {
	is_cluster main && skip "a cluster's primaries are asked"
	redis_replica copy main
	set_key recent:card:5:m:5 x
	wait_until replicated
	bloomctl_ok lookup -k cards.keyspec --recent 'recent:{key}' --format json \
		-t "redis://127.0.0.1:$(redis_port copy)" 5 m:5
	redis_stop copy
	printf '%s\n' "$output" >got.json
	assert_json got.json '.recent.found' '.recent.replica'
}

replicated() {
	[[ $(redis_cli copy EXISTS recent:card:5:m:5) == 1 ]]
}

# --- what cannot be asked -------------------------------------------------

@test "tiers: what is not there or may not be read is no answer" {
	on lookup -s "$word" --table nowhere 5 m:5
	assert_failure 66 lookup "table 'nowhere'"
	on lookup -s "$word" --query 'SELECT 1 AS id' 5 m:5
	assert_failure 65 lookup 'query' 'scope'
	ask --expires nothing 5 m:5
	assert_failure 65 lookup 'nothing'
	ask --expires scope 5 m:5
	assert_failure 64 lookup "table 'public.cards'"
	on lookup -s 'host=/nowhere' --table cards 5 m:5
	assert_failure 69 lookup
	redis_cli main ACL SETUSER app on '>secret' '~*' '+@all' -pttl >/dev/null
	REDISCLI_AUTH=secret on lookup --user app --recent 'recent:{key}' 5 m:5
	assert_failure 77 lookup recent-writes
	redis_cli main ACL DELUSER app >/dev/null
}
