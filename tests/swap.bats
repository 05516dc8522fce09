#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# bloomctl swap: a complete generation becomes live, goes back, is pruned; and
# whatever is wrong, readers go on with what they had.
# shellcheck disable=SC2016 # texts of damage are expanded by eval
bats_require_minimum_version 1.5.0

load helpers

setup_file() {
	begin_file
	write_csv rows.csv 1 1000
	write_csv more.csv 1 1010
	make_live rows.csv
	mkdir two
	cp -a t two/
	cd two
	cp ../cards.keyspec ../*.csv .
	make_live more.csv
}

setup() {
	begin
	cp "$BATS_FILE_TMPDIR"/*.csv .
	cp -a "$BATS_FILE_TMPDIR/t" .
	set=$(set_of)
	live=$(live_of)
	swap=(swap -k cards.keyspec -t dir:t)
}

# two_generations: t as it is after a second swap.
two_generations() {
	rm -r t
	cp -a "$BATS_FILE_TMPDIR/two/t" .
	before=$live
	live=$(live_of)
}

state_of() {
	"$BLOOMCTL" inspect -k cards.keyspec -t dir:t --format json |
		jq -r ".generations[] | select(.generation == \"$1\") | .state"
}

@test "swap: the first makes the set live, and the receipt says so" {
	rm -r t
	build_csv rows.csv
	[[ ! -e $set/live ]]
	bloomctl_run lookup -k cards.keyspec -t dir:t 1 m:1
	assert_failure 83 lookup
	bloomctl_ok "${swap[@]}" --receipt got.json
	assert_has "$output" "generation '$built' is live" '1,000 rows' \
		'before it: none'
	[[ $(readlink "$set/live") == "$built" ]]
	assert_json got.json '.command == "swap"' '.status == 0' \
		".generation == \"$built\"" '.previous == null' \
		'.rows == 1000' '.capacity == 329' '.set == "cards-a2bfa51c"'
	assert_answers
}

@test "swap: the second keeps the one before, and the receipt names it" {
	build_csv more.csv
	bloomctl_ok "${swap[@]}" --receipt got.json
	assert_has "$output" "generation '$built' is live" '1,010 rows' \
		"before it: $live"
	assert_json got.json ".generation == \"$built\"" \
		".previous == \"$live\""
	[[ $(live_of) == "$built" && $(state_of "$live") == old ]]
	assert_json "$set/$built/manifest.json" ".previous == \"$live\"" \
		'.state == "live"' '.promoted != null'
	assert_json "$set/$live/manifest.json" '.state == "old"' \
		'.retired != null'
	assert_answers
	assert_answers -g "$live"
}

@test "swap: with nothing newer complete it is 83, and nothing moves" {
	remember_tree
	bloomctl_run "${swap[@]}"
	assert_failure 83 swap "set 'cards-a2bfa51c'" "$live"
	assert_has "$stderr" 'bloomctl build'
	assert_tree_unchanged
}

@test "swap: the live generation by its id is live already" {
	remember_tree
	bloomctl_ok "${swap[@]}" -g "$live"
	assert_has "$output" 'is live already'
	assert_tree_unchanged
}

@test "swap: -g takes that generation, an older complete one is not the default" {
	build_csv rows.csv
	older=$built
	build_csv more.csv
	bloomctl_ok "${swap[@]}" -g "$built"
	bloomctl_run "${swap[@]}"
	assert_failure 83 swap 'no complete generation newer'
	[[ $(live_of) == "$built" ]]
	bloomctl_ok "${swap[@]}" -g "$older"
	[[ $(live_of) == "$older" ]]
}

@test "swap: ids that are none, or not there, are 64 and 83" {
	local id
	for id in x ../x live '' 20261130T195654Z 20261130T195654Z-ABCD \
		20261130T195654Z-1a2b/; do
		bloomctl_run "${swap[@]}" -g "$id"
		assert_failure 64 swap --generation
	done
	bloomctl_run "${swap[@]}" -g 20261130T195654Z-1a2b
	assert_failure 83 swap 20261130T195654Z-1a2b
}

@test "swap: no set is 66, no target is 66" {
	rm -r t/*
	bloomctl_run "${swap[@]}"
	assert_failure 66 swap "set 'cards-a2bfa51c'" 'dir:t'
	rm -r t
	bloomctl_run "${swap[@]}"
	assert_failure 66 swap "target 'dir:t'"
	[[ ! -e t ]]
}

# --- rollback -------------------------------------------------------------

@test "swap: --rollback goes back to the generation before" {
	two_generations
	bloomctl_ok "${swap[@]}" --rollback --receipt got.json
	assert_has "$output" "generation '$before' is live" "before it: $live"
	assert_json got.json '.command == "swap --rollback"' \
		".generation == \"$before\"" ".previous == \"$live\""
	[[ $(live_of) == "$before" && $(state_of "$live") == old ]]
	assert_answers
	bloomctl_run lookup -q -k cards.keyspec -t dir:t 1010 m:2
	assert_status 1
}

@test "swap: --rollback needs no --allow-shrink" {
	write_csv many.csv 1 5000
	make_live many.csv
	bloomctl_ok "${swap[@]}" -q --rollback
	[[ $(live_of) == "$live" ]]
}

@test "swap: a second --rollback does not return to what was found bad" {
	two_generations
	bloomctl_ok "${swap[@]}" -q --rollback
	remember_tree
	bloomctl_run "${swap[@]}" --rollback
	assert_failure 83 swap "$live"
	assert_has "$stderr" "hint: " "swap --rollback -g $live"
	assert_tree_unchanged
	[[ $(live_of) == "$before" ]]
}

@test "swap: --rollback -g goes back to any generation that was live" {
	two_generations
	middle=$live
	make_live rows.csv
	bloomctl_ok "${swap[@]}" -q --rollback
	[[ $(live_of) == "$middle" ]]
	bloomctl_ok "${swap[@]}" -q --rollback -g "$before"
	[[ $(live_of) == "$before" ]]
	bloomctl_ok "${swap[@]}" -q --rollback -g "$middle"
	[[ $(live_of) == "$middle" ]]
	assert_answers
}

@test "swap: --rollback without a previous one, or without a live one, is 83" {
	bloomctl_run "${swap[@]}" --rollback
	assert_failure 83 swap "no generation was live before '$live'"
	rm "$set/live"
	bloomctl_run "${swap[@]}" --rollback
	assert_failure 83 swap 'nothing is live'
}

@test "swap: --rollback to one that was never live, or is pruned, is 83" {
	build_csv rows.csv
	bloomctl_run "${swap[@]}" --rollback -g "$built"
	assert_failure 83 swap "$built" complete
	two_generations
	rm -r "${set:?}/$before"
	bloomctl_run "${swap[@]}" --rollback
	assert_failure 83 swap "$before"
	[[ $(live_of) == "$live" ]]
}

@test "swap: an old generation goes back by --rollback only" {
	two_generations
	bloomctl_run "${swap[@]}" -g "$before"
	assert_failure 83 swap "$before" old
	assert_has "$stderr" "hint: " "swap --rollback -g $before"
	[[ $(live_of) == "$live" ]]
}

# --- fewer rows -----------------------------------------------------------

@test "swap: far fewer rows are refused with 83, unless --allow-shrink" {
	write_csv fewer.csv 1 799
	build_csv fewer.csv
	remember_tree
	bloomctl_run "${swap[@]}"
	assert_failure 83 swap "$built" '799 rows' '80 %' 1000
	assert_has "$stderr" --allow-shrink
	bloomctl_run "${swap[@]}" -n
	assert_failure 83 swap '799 rows'
	assert_tree_unchanged
	assert_answers
	bloomctl_ok "${swap[@]}" -q --allow-shrink
	[[ $(live_of) == "$built" ]]
	write_csv enough.csv 1 640
	build_csv enough.csv
	bloomctl_ok "${swap[@]}" -q
}

@test "swap: one bucket that lost its rows is refused, unless --allow-shrink" {
	write_csv rows.csv 1 5000
	make_live rows.csv
	# Not the rows of bucket 2: 75 % of all, so fill up from elsewhere.
	"$BLOOMCTL" key -k cards.keyspec --stdin --input-format csv --format \
		csv < <(write_csv /dev/stdout 1 7000) |
		awk -F '[,:]' 'NR == 1 { print "id,scope" }
			NR > 1 && $6 != 2 { print $2 ",m:" $4 }' >hole.csv
	(($(wc -l <hole.csv) > 5000))
	build_csv hole.csv
	bloomctl_run "${swap[@]}"
	assert_failure 83 swap "$built" 'bucket 2' ' 0 rows'
	assert_has "$stderr" --allow-shrink
	bloomctl_ok "${swap[@]}" -q --allow-shrink
}

@test "swap: no row at all is refused, also at a first swap" {
	echo id,scope >none.csv
	build_csv none.csv
	bloomctl_run "${swap[@]}"
	assert_failure 83 swap "$built" 'no row'
	rm -r t
	build_csv none.csv
	bloomctl_run "${swap[@]}"
	assert_failure 83 swap "$built" 'no row'
	bloomctl_ok "${swap[@]}" -q --allow-shrink
}

# --- damage ---------------------------------------------------------------

@test "swap: a damaged generation is 74 with the file named, and live goes on" {
	local file damage state
	build_csv more.csv
	file=$set/$built/1.bloom
	cp -a t kept
	remember_tree
	for damage in \
		'flip $file 4096' \
		'flip $file $(($(stat -c %s $file) - 1))' \
		'flip $file 81' \
		'flip $file 4000' \
		'truncate -s -1 $file' \
		'truncate -s 100 $file' \
		'truncate -s 0 $file' \
		'truncate -s +1 $file' \
		'rm $file' \
		'cp $set/$built/0.bloom $file' \
		'cp $set/$live/1.bloom $file' \
		'echo id,scope >$file' \
		'rm $file; mkdir $file' \
		'rm $file; ln -s 0.bloom $file' \
		'rm $file; mkfifo $file'; do
		echo "damage: $damage"
		eval "$damage"
		for state in '' -n --allow-shrink "-g $built"; do
			# shellcheck disable=SC2086 # words
			bloomctl_run "${swap[@]}" $state
			assert_failure 74 swap \
				"filter file 't/cards-a2bfa51c/$built/1.bloom'"
		done
		[[ $(live_of) == "$live" ]]
		assert_answers
		rm -r "$file" 2>/dev/null || :
		cp -a "kept/cards-a2bfa51c/$built/1.bloom" "$file"
	done
	assert_tree_unchanged
	bloomctl_ok "${swap[@]}" -q
	[[ $(live_of) == "$built" ]]
}

@test "swap: a manifest that is damaged, missing or another's is not promoted" {
	local file damage
	build_csv more.csv
	file=$set/$built/manifest.json
	cp -a "$file" kept
	for damage in \
		'flip $file 100' \
		'truncate -s -1 $file' \
		'truncate -s 0 $file' \
		'rm $file' \
		'sed -i s/complete/live/ $file' \
		'cp $set/$live/manifest.json $file' \
		'rm $file; ln -s ../$live/manifest.json $file' \
		'rm $file; mkfifo $file'; do
		echo "damage: $damage"
		eval "$damage"
		bloomctl_run "${swap[@]}"
		assert_failure 83 swap
		bloomctl_run "${swap[@]}" -g "$built"
		assert_failure 83 swap "$built" manifest
		[[ $(live_of) == "$live" ]]
		assert_answers
		rm -f "$file"
		cp -a kept "$file"
	done
	bloomctl_ok "${swap[@]}" -q
}

@test "swap: --rollback checks the filters, too" {
	two_generations
	flip "$set/$before/3.bloom" 4200
	bloomctl_run "${swap[@]}" --rollback
	assert_failure 74 swap "$before/3.bloom"
	[[ $(live_of) == "$live" ]]
	assert_answers
}

@test "swap: from a broken live generation there is a way back, and prune leaves it" {
	two_generations
	flip "$set/$live/manifest.json" 50
	bloomctl_ok "${swap[@]}" --prune --keep 0
	assert_stdout_is 'nothing to remove'
	bloomctl_run "${swap[@]}" --rollback
	assert_failure 83 swap
	bloomctl_ok "${swap[@]}" -q --rollback -g "$before"
	[[ $(live_of) == "$before" ]]
	assert_answers
}

@test "swap: a lost link does not let far fewer rows through" {
	rm "$set/live"
	head -n 2 rows.csv >few.csv
	build_csv few.csv
	bloomctl_run "${swap[@]}"
	assert_failure 83 swap "'$built': 1 rows, less than 80 %"
	[[ ! -e $set/live ]]
	bloomctl_ok "${swap[@]}" -q -g "$built" --allow-shrink
	[[ $(live_of) == "$built" ]]
}

@test "swap: a broken live generation is replaced by a new build and swap" {
	local damage
	cp -a t kept
	for damage in \
		'flip $set/$live/0.bloom 4100' \
		'rm $set/$live/2.bloom' \
		'rm $set/$live/manifest.json' \
		'flip $set/$live/manifest.json 50' \
		'rm -r $set/$live' \
		'rm $set/live'; do
		echo "damage: $damage"
		eval "$damage"
		build_csv rows.csv
		bloomctl_run "${swap[@]}" -q
		if [[ $damage == *manifest* || $damage == *-r* ]]; then
			# Nothing tells what readers have lost by it.
			assert_failure 83 swap 'no telling'
			bloomctl_ok "${swap[@]}" -q --allow-shrink
		fi
		assert_status 0
		[[ $(live_of) == "$built" ]]
		assert_answers
		bloomctl_run swap -q -k cards.keyspec -t dir:t --prune --keep 0
		assert_status 0
		assert_answers
		rm -r t
		cp -a kept t
	done
}

@test "swap: a link that points elsewhere is 74, and is not followed" {
	local to
	mkdir outside
	cp -a "$set/$live" "outside/$live"
	for to in "../../outside/$live" / . "$live/" nowhere; do
		ln -sfn "$to" "$set/live"
		bloomctl_run "${swap[@]}"
		assert_failure 74 swap live
		bloomctl_run lookup -k cards.keyspec -t dir:t 1 m:1
		assert_failure 74 lookup live
	done
	rm "$set/live"
	mkdir "$set/live"
	bloomctl_run "${swap[@]}"
	assert_failure 74 swap live
}

# --- prune ----------------------------------------------------------------

# generations: the ids that are there, sorted.
generations() {
	find "$set" -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort
}

@test "swap: --prune keeps the live one, the one before and newer complete ones" {
	local a b c d e
	a=$live
	make_live rows.csv
	b=$built
	make_live rows.csv
	c=$built
	build_csv rows.csv
	d=$built
	make_live rows.csv
	e=$built
	build_csv rows.csv
	# a, b and c were live, d was overtaken, e is live.
	bloomctl_ok "${swap[@]}" --prune -n
	assert_has "$output" "'$a' (old) would be removed" \
		"'$b' (old) would be removed" "'$d' (complete) would be removed"
	((${#lines[@]} == 3))
	(($(generations | wc -l) == 6))
	bloomctl_ok "${swap[@]}" --prune
	assert_has "$output" "'$a' (old) is removed" "'$b' (old) is removed" \
		"'$d' (complete) is removed"
	[[ $(generations) == "$(printf '%s\n' "$c" "$e" "$built" | sort)" ]]
	bloomctl_ok "${swap[@]}" --prune
	assert_stdout_is 'nothing to remove'
	bloomctl_ok "${swap[@]}" -q --rollback
	[[ $(live_of) == "$c" ]]
	assert_answers
}

@test "swap: --prune --keep keeps so many, and never fewer than the one before" {
	two_generations
	make_live rows.csv
	(($(generations | wc -l) == 3))
	bloomctl_ok "${swap[@]}" --prune --keep 2
	assert_stdout_is 'nothing to remove'
	bloomctl_ok "${swap[@]}" -q --prune --keep 0
	[[ $(generations) == "$(printf '%s\n' "$live" "$built" | sort)" ]]
	bloomctl_run "${swap[@]}" --keep 3
	assert_failure 64 swap --keep --prune
	bloomctl_run "${swap[@]}" --prune --keep -1
	assert_failure 64 swap --keep
}

@test "swap: --prune removes aborted and broken generations" {
	build_csv rows.csv
	echo damaged >"$set/$built/manifest.json"
	bloomctl_run build -q -k cards.keyspec -t dir:t -s file:rows.csv \
		--capacity 5
	assert_status 80
	bloomctl_ok "${swap[@]}" --prune
	((${#lines[@]} == 2))
	assert_has "$output" '(aborted) is removed' "'$built' (broken) is removed"
	[[ $(generations) == "$live" ]]
	assert_answers
}

@test "swap: --prune removes nothing that is not bloomctl's" {
	build_csv rows.csv
	rm "$set/$built/manifest.json"
	echo mine >"$set/$built/notes.txt"
	mkdir "$set/backup"
	echo mine >"$set/backup/0.bloom"
	ln -s "$PWD/rows.csv" "$set/$built/9.bloom"
	bloomctl_run "${swap[@]}" --prune
	assert_status 74
	assert_has "$stderr" "bloomctl swap: folder 't/cards-a2bfa51c/$built"
	[[ -n $(find "$set" -name notes.txt) ]]
	[[ -s $set/backup/0.bloom && -s rows.csv ]]
	assert_answers
}

@test "swap: options of prune and of promotion do not mix" {
	local other
	for other in --rollback --allow-shrink "-g $live"; do
		# shellcheck disable=SC2086 # words
		bloomctl_run "${swap[@]}" --prune $other
		assert_failure 64 swap --prune
	done
	bloomctl_run "${swap[@]}" --rollback --allow-shrink
	[[ $status == 83 || $status == 64 ]]
}

# --- dry runs, locks, interruption ----------------------------------------

@test "swap: --dry-run says what would happen and writes nothing at all" {
	two_generations
	build_csv rows.csv
	remember_tree
	lock=$(stat -c '%y %s' "$set/lock")
	bloomctl_ok "${swap[@]}" -n --receipt got.json
	assert_has "$output" "'$built' would be live, 1,000 rows"
	assert_json got.json .dry_run '.status == 0'
	bloomctl_ok "${swap[@]}" -n --rollback
	assert_has "$output" "'$before' would be live, 1,000 rows"
	bloomctl_ok "${swap[@]}" -n --prune
	assert_tree_unchanged
	[[ $(stat -c '%y %s' "$set/lock") == "$lock" && $(live_of) == "$live" ]]
}

@test "swap: a lock that somebody holds is 82, dry or not, also for --prune" {
	build_csv rows.csv
	remember_tree
	hold_lock "$set"
	local -a options
	while read -ra options; do
		bloomctl_run "${swap[@]}" "${options[@]}"
		assert_failure 82 swap "set 'cards-a2bfa51c': locked by "
	done <<-'END'
		-q
		-n
		--rollback
		--prune
		--prune -n
	END
	release_lock
	assert_tree_unchanged
	bloomctl_ok "${swap[@]}" -q
}

@test "swap: one that was killed is healed by the next, before and behind its rename" {
	local kind n healed=0
	need_fault
	build_csv more.csv
	cp -a t kept
	for kind in symlink rename fsync; do
		for n in {1..9}; do
			rm -r t
			cp -a kept t
			fault_run "$kind:$n:kill" /cards- "${swap[@]}" -q
			((status == 137)) || break
			assert_answers
			if [[ $(live_of) != "$live" ]]; then
				[[ $(live_of) == "$built" ]]
				[[ $(state_of "$built") == live ]]
				[[ $(state_of "$live") == old ]]
				healed=$((healed + 1))
			fi
			bloomctl_ok "${swap[@]}" -q -g "$built"
			[[ $(live_of) == "$built" ]]
			assert_json "$set/$built/manifest.json" \
				'.state == "live"' ".previous == \"$live\""
			assert_json "$set/$live/manifest.json" '.state == "old"'
			[[ -z $(find t -name '*.tmp') ]]
			bloomctl_ok "${swap[@]}" -q --rollback
			[[ $(live_of) == "$live" ]]
		done
		assert_status 0
	done
	((healed > 0))
}

@test "swap: without -g, one that was cut short behind its rename is finished" {
	need_fault
	build_csv more.csv
	# The third rename is that of the manifest behind the link's.
	fault_run rename:3:kill /cards- "${swap[@]}" -q
	assert_status 137
	[[ $(live_of) == "$built" ]]
	bloomctl_run "${swap[@]}" --receipt got.json
	assert_status 0
	assert_stderr_is "bloomctl swap: removed '$built/manifest.json.tmp', left by a run that died"
	assert_has "$output" "'$built' is live" 'finished' "$live"
	assert_json got.json ".generation == \"$built\"" '.status == 0'
}

@test "swap: SIGINT and SIGTERM end it with nothing moved, or with all of it" {
	local n signal want
	need_fault
	build_csv more.csv
	cp -a t kept
	while read -r signal want; do
		for n in 2 4 6 8 10 12 14 16 18; do
			fault_run "any:$n:$signal" /cards- "${swap[@]}" -q
			case $status in
			0) [[ $(live_of) == "$built" ]] ;;
			"$want")
				assert_one_sentence swap 'stopped by SIG'
				[[ $(live_of) == "$live" ]]
				;;
			*) fail "status $status" ;;
			esac
			assert_answers
			flock -n "$set/lock" true
			rm -r t
			cp -a kept t
		done
	done <<-'END'
		int 130
		term 143
	END
}

@test "swap: readers find every member through fifty swaps" {
	two_generations
	# Each reader is a new process, and asks by whatever is live then.
	(
		misses=0
		while [[ ! -e over ]]; do
			"$BLOOMCTL" verify -q -k cards.keyspec -t dir:t \
				-s file:rows.csv --absent 0 2>>misses ||
				misses=$((misses + 1))
			echo >>asked
		done
		echo $misses >count
	) &
	local reader=$! id
	for _ in {1..25}; do
		for id in "$before" "$live"; do
			"$BLOOMCTL" "${swap[@]}" -q --rollback -g "$id"
		done
	done
	touch over
	wait $reader
	cat misses
	(($(wc -l <asked) > 10))
	[[ $(<count) == 0 ]]
}

# --- retire ---------------------------------------------------------------

# left: what is in the folder of the set, a name a word.
left() {
	(cd "$set" && echo *)
}

@test "swap: --retire removes the set, and only if what is live is named" {
	two_generations
	bloomctl_run "${swap[@]}" --retire
	assert_failure 64 swap "removes set '${set#t/}'" "'$live' is live" \
		'1,010 rows'
	assert_has "$stderr" "--retire -g $live"
	bloomctl_run "${swap[@]}" --retire -g "$before"
	assert_failure 83 swap "'$before'" "live, which is '$live'"
	bloomctl_ok "${swap[@]}" --retire -g "$live" -n
	assert_stdout_is "generation '$before' (old) would be removed
generation '$live' (live) would be removed"
	assert_answers
	bloomctl_ok "${swap[@]}" --retire -g "$live" --receipt got.json
	assert_stdout_is "generation '$before' (old) is removed
generation '$live' (live) is removed"
	assert_json got.json '.command == "swap --retire"' '.status == 0'
	# A run that comes too late must find the lock that it had.
	[[ $(left) == lock ]]
	bloomctl_run lookup -k cards.keyspec -t dir:t 1 m:1
	assert_failure 66 lookup
	bloomctl_run "${swap[@]}" --retire -g "$live"
	assert_failure 66 swap 'no generation'
	# There may be another one.
	make_live rows.csv
	set=$(set_of) live=$(live_of)
	assert_answers
}

@test "swap: --retire takes the mark of a feed away" {
	echo 1,m:1 | bloomctl_ok sync -q -k cards.keyspec -t dir:t -s - \
		--columns id,scope
	[[ -e $set/fed ]]
	bloomctl_ok "${swap[@]}" -q --retire -g "$live"
	[[ $(left) == lock* && $(left) != *fed* ]]
	make_live rows.csv
	make_live more.csv
}

@test "swap: --retire that is killed at any call is finished by the next" {
	local n status=137
	need_fault
	two_generations
	for ((n = 1; status == 137; n++)); do
		cp -a "$BATS_FILE_TMPDIR/two/t" "t$n"
		status=0
		LD_PRELOAD=$BUILD/fault.so FAULT=unlink:$n:kill "$BLOOMCTL" \
			"${swap[@]/dir:t/dir:t$n}" -q --retire -g "$live" ||
			status=$?
		((status == 137)) || break
		# Readers get all of it, or none.
		if [[ -e t$n/${set#t/}/live ]]; then
			bloomctl_ok verify -q -k cards.keyspec -t "dir:t$n" \
				-s file:more.csv
		fi
		# The manifest of what was live may be gone with it.
		bloomctl_run "${swap[@]/dir:t/dir:t$n}" -q --retire -g "$live"
		((status == 0 || status == 66)) ||
			fail "at call $n the next one ended with $status"
		status=137
		[[ $(cd "t$n/${set#t/}" && echo *) == lock ]] ||
			fail "call $n left $(ls "t$n/${set#t/}")"
	done
	((n > 10))
}

@test "swap: what says nothing to a mode is refused" {
	local words
	while read -r words; do
		# shellcheck disable=SC2086 # several words
		bloomctl_run "${swap[@]}" $words
		assert_failure 64 swap 'only one of them can be meant'
	done <<-END
		--rollback --prune
		--prune --retire
		--adopt --rollback -s file:rows.csv
		--prune -g $live
		--prune --static
		--prune --horizon 2026-01-01T00:00:00Z
		--prune -s file:rows.csv
		--retire --catch-up xmin -g $live
		--adopt -s file:rows.csv --static
		--adopt -s file:rows.csv -g $live
	END
	# A file may have them for others.
	printf '%s\n' 'static = yes' 'source = file:rows.csv' >all.conf
	bloomctl_ok "${swap[@]}" -q --prune --config all.conf
}
