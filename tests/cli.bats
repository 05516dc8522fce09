#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The program as a whole: its top level, where options come from, and the files
# that it makes.  tests/output.bats has its standard descriptors.
bats_require_minimum_version 1.5.0

load helpers

commands=(size build swap sync rebuild export inspect verify lookup doctor key)

setup() {
	begin
}

# --- the top level --------------------------------------------------------

@test "cli: --help lists every command, on standard output" {
	local command
	bloomctl_ok --help
	for command in "${commands[@]}"; do
		[[ $output =~ (^|$'\n')\ *$command\ +[a-z] ]] ||
			fail "$command is not listed"
	done
	# And no other than those of cmd.h.
	[[ $(sed -n 's/^\tCOMMAND(\([a-z]*\), ON_.*/\1/p' \
		"$BATS_TEST_DIRNAME/../cmd/cmd.h") == \
		"$(printf '%s\n' "${commands[@]}")" ]]
}

@test "cli: --help of every command names its options and its page" {
	local command
	for command in "${commands[@]}"; do
		bloomctl_ok "$command" --help
		assert_has "$output" "Usage: bloomctl $command" \
			"bloomctl-$command(1)" --config --quiet --verbose --help
		[[ -f $BATS_TEST_DIRNAME/../man/bloomctl-$command.1 ]]
		bloomctl_ok "$command" --usage
		assert_has "$output" "Usage: bloomctl $command"
	done
}

@test "cli: --version is one line, also behind a command" {
	bloomctl_ok --version
	[[ $output =~ ^bloomctl\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	bloomctl_ok -V
	[[ $output == bloomctl\ [0-9]* ]]
	bloomctl_ok build --version
	[[ $output == bloomctl\ [0-9]* ]]
}

@test "cli: no command, an unknown one and a bad option are 64" {
	bloomctl_run
	assert_status 64
	assert_stdout_is ''
	assert_has "$stderr" 'no command given' --help
	bloomctl_run bild
	assert_status 64
	assert_stdout_is ''
	assert_stderr_is "bloomctl: command 'bild': there is no such command
hint: bloomctl --help lists them"
	bloomctl_run --keyspec cards.keyspec build
	assert_status 64
	assert_has "$stderr" "unrecognized option '--keyspec'"
	assert_stdout_is ''
}

@test "cli: in every command a bad option, a surplus argument and a missing option are 64" {
	local command
	for command in "${commands[@]}"; do
		bloomctl_run "$command" --no-such-option
		assert_status 64
		assert_stdout_is ''
		assert_has "$stderr" "bloomctl $command: " --no-such-option
		bloomctl_run "$command" --config
		assert_status 64
		assert_stdout_is ''
		assert_has "$stderr" "bloomctl $command: " --config
		bloomctl_run "$command"
		assert_failure 64 "$command" option
	done
	for command in size build swap sync export inspect verify doctor; do
		bloomctl_run "$command" surplus
		assert_failure 64 "$command" "argument 'surplus'"
		assert_has "$stderr" "hint: bloomctl $command --help"
	done
}

@test "cli: an option of another command is none of this one's" {
	bloomctl_run swap -k cards.keyspec -t dir:t --capacity 5
	assert_status 64
	assert_has "$stderr" "unrecognized option '--capacity'"
	bloomctl_run key -k cards.keyspec --target dir:t
	assert_status 64
}

@test "cli: long options may be cut short where that is clear" {
	bloomctl_ok key --keysp cards.keyspec --form csv 5 m:5
	bloomctl_run key --ke cards.keyspec --f csv 5 m:5
	[[ $status == 0 || $status == 64 ]]
}

# --- where options come from ----------------------------------------------

# capacity OPTION...: the capacity that size plans with the options in force.
capacity() {
	"$BLOOMCTL" size --format json "$@" | jq .capacity
}

@test "cli: the command line is stronger than the file, the file than the environment" {
	printf 'keys = 100\nheadroom = 100\nbuckets = 1\n' >a.conf
	# One filter, a sentinel, and the headroom on 100 keys.
	export BLOOMCTL_HEADROOM=50 BLOOMCTL_KEYS=100 BLOOMCTL_BUCKETS=1
	[[ $(capacity) == 151 ]]
	[[ $(capacity --config a.conf) == 201 ]]
	[[ $(capacity --config a.conf --headroom 0) == 101 ]]
	[[ $(capacity --headroom 10) == 111 ]]
	# The same in the other order.
	[[ $(capacity --headroom 0 --config a.conf) == 101 ]]
}

@test "cli: of kinds of options each comes from each place" {
	local name value
	write_csv rows.csv 1 100
	write_text rows.txt 1 100
	# text, list, choice, flag, number, rate, percent, capacity
	cat >a.conf <<-'END'
		# a comment
		; another
		keyspec = cards.keyspec

		  source=file:rows.txt
		input-format =	text
		columns = id,scope
		target = dir:t
		capacity = 77
		error = 0.001
		jobs = 2
		receipt = got.json
		quiet = yes
		dry-run = no
	END
	bloomctl_ok build --config a.conf
	assert_stdout_is ''
	assert_json got.json '.capacity == 77' '.error == 0.001' '.rows == 100'
	rm -r t got.json
	while IFS='= ' read -r name value; do
		[[ $name != '#'* && $name != ';'* && -n $name ]] || continue
		name=${name//-/_}
		export "BLOOMCTL_${name^^}=${value//$'\t'/}"
	done <a.conf
	bloomctl_ok build
	assert_stdout_is ''
	assert_json got.json '.capacity == 77' '.error == 0.001' '.rows == 100'
	# A flag's no, and what the command line says against them.
	export BLOOMCTL_DRY_RUN=yes
	bloomctl_ok build --capacity auto --error 0.01
	assert_json got.json .dry_run '.capacity == 46' '.error == 0.01'
}

@test "cli: a list from a stronger place replaces the weaker one whole" {
	write_csv a.csv 1 10
	write_csv b.csv 11 30
	write_csv c.csv 31 70
	printf 'source = file:a.csv\nsource = file:b.csv\n' >a.conf
	run_size() {
		bloomctl_run size -k cards.keyspec --format csv "$@"
		assert_status 0
		keys=$(cut -d , -f 2 <<<"${lines[1]}")
	}
	run_size --config a.conf
	[[ $keys == 30 ]]
	run_size --config a.conf -s file:c.csv
	[[ $keys == 40 ]]
	export BLOOMCTL_SOURCE=file:c.csv
	run_size
	[[ $keys == 40 ]]
	run_size --config a.conf
	[[ $keys == 30 ]]
}

@test "cli: of an option given twice the last counts, in the file, too" {
	[[ $(capacity --buckets 1 --keys 100 --headroom 5 --headroom 0) == 101 ]]
	printf 'headroom = 5\nheadroom = 100\n' >a.conf
	[[ $(capacity --buckets 1 --keys 100 --config a.conf) == 201 ]]
}

@test "cli: BLOOMCTL_CONFIG names the file, --config another" {
	printf 'headroom = 100\n' >a.conf
	printf 'headroom = 0\n' >b.conf
	export BLOOMCTL_CONFIG=a.conf
	[[ $(capacity --buckets 1 --keys 100) == 201 ]]
	[[ $(capacity --buckets 1 --keys 100 --config b.conf) == 101 ]]
	BLOOMCTL_CONFIG=none.conf
	bloomctl_run size --buckets 1 --keys 100
	assert_failure 78 size "file 'none.conf'"
}

@test "cli: no configuration is taken from the working directory or HOME" {
	local name
	for name in bloomctl.conf .bloomctl.conf .bloomctl etc/bloomctl.conf; do
		mkdir -p "$(dirname "$name")"
		echo 'headroom = 100' >"$name"
	done
	[[ $(HOME=$PWD capacity --buckets 1 --keys 100) == 126 ]]
}

@test "cli: an option that the command has not is passed over, an unknown one is 78" {
	printf 'target = dir:t\nlimit = 5K\nabsent = 3\n' >a.conf
	BLOOMCTL_KEEP=3 bloomctl_ok key -k cards.keyspec --config a.conf 5 m:5
	printf 'target = dir:t\n\ntargte = dir:u\n' >a.conf
	bloomctl_run key -k cards.keyspec --config a.conf 5 m:5
	assert_failure 78 key "file 'a.conf': line 3: 'targte'"
	echo 'config = b.conf' >a.conf
	bloomctl_run key -k cards.keyspec --config a.conf 5 m:5
	assert_failure 78 key "file 'a.conf': line 1: " config
	# A variable of no option may be somebody else's.
	BLOOMCTL_TARGTE=x bloomctl_ok key -k cards.keyspec 5 m:5
}

@test "cli: a bad value is named with its place, of every kind of option" {
	local command name value flag
	while read -r command name value; do
		[[ $value != EMPTY ]] || value=
		bloomctl_run "$command" "--$name=$value"
		assert_failure 64 "$command" "option --$name: '$value' is not"
		printf '\n# x\n%s = %s\n' "$name" "$value" >a.conf
		bloomctl_run "$command" --config a.conf
		assert_failure 78 "$command" \
			"file 'a.conf': line 3: option --$name: '$value' is not"
		# An empty variable is none.
		[[ -n $value ]] || continue
		flag=${name//-/_}
		any_run env "BLOOMCTL_${flag^^}=$value" "$BLOOMCTL" "$command"
		assert_failure 78 "$command" \
			"variable BLOOMCTL_${flag^^}: option --$name: '$value' is not"
	done <<-'END'
		build keyspec EMPTY
		build source EMPTY
		build input-format xml
		build input-format csv|text
		build engine redis
		inspect format tab
		build capacity 0
		build capacity all
		build keys -1
		build keys 1.5
		build keys 18446744073709551616
		build keys 0x10
		build error 0
		build error 1
		build error -0.1
		build error nan
		build error 1%
		size buckets 0
		size buckets 65537
		build headroom -1
		build headroom 10001
		build headroom inf
		build jobs 0
		build jobs 65
		size limit 0
		size limit 5X
		swap generation latest
		swap keep x
		verify absent -1
		build deadline EMPTY
		build deadline 10
		size deadline 1h30m
		verify deadline -1s
		swap deadline 1.5h
		swap deadline 99999999999999999999s
		swap deadline 2026-02-29T00:00:00Z
		swap deadline 2026-12-01
	END
	for value in maybe 1 true YES; do
		echo "dry-run = $value" >a.conf
		bloomctl_run build --config a.conf
		assert_failure 78 build "file 'a.conf': line 1" 'yes or no'
		BLOOMCTL_DRY_RUN=$value bloomctl_run build
		assert_failure 78 build 'variable BLOOMCTL_DRY_RUN' 'yes or no'
	done
}

@test "cli: a configuration that is no text of lines is 78" {
	echo 'keyspec cards.keyspec' >form.conf
	printf 'quiet = yes\0\n' >nul.conf
	mkdir folder.conf
	mkfifo fifo.conf
	head -c 1100000 /dev/zero | tr '\0' '#' >large.conf
	local file
	for file in form nul folder fifo large none; do
		bloomctl_run key -k cards.keyspec --config $file.conf 5 m:5
		assert_failure 78 key "file '$file.conf'"
	done
	bloomctl_run key -k cards.keyspec --config form.conf 5 m:5
	assert_failure 78 key 'line 1' 'name = value'
}

@test "cli: CRLF, a last line without newline and no line at all are a configuration" {
	printf 'keyspec = cards.keyspec\r\nformat = csv' >a.conf
	bloomctl_ok key --config a.conf 5 m:5
	assert_has "$output" 'card:5:m:5,'
	: >a.conf
	bloomctl_ok key -k cards.keyspec --config a.conf 5 m:5
}

@test "cli: -q and -v together are 64, -v twice is more than once" {
	bloomctl_run key -k cards.keyspec -q -v 5 m:5
	assert_failure 64 key --quiet --verbose
	write_csv rows.csv 1 10
	bloomctl_run build -k cards.keyspec -t dir:t -s file:rows.csv -v
	assert_status 0
	assert_has "$stderr" 'bloomctl build: generation '
	once=$stderr
	bloomctl_run build -k cards.keyspec -t dir:t -s file:rows.csv -vv
	assert_status 0
	((${#stderr} >= ${#once}))
	printf 'verbose = 1\n' >a.conf
	bloomctl_run build -k cards.keyspec -t dir:t -s file:rows.csv \
		--config a.conf
	assert_has "$stderr" 'bloomctl build: generation '
	# The command line alone counts, where it says something.
	bloomctl_run build -k cards.keyspec -t dir:t -s file:rows.csv \
		--config a.conf -q
	assert_status 0
	assert_stderr_is ''
}

@test "cli: -q prints nothing but the answer" {
	write_csv rows.csv 1 10
	bloomctl_ok build -q -k cards.keyspec -t dir:t -s file:rows.csv
	assert_stdout_is ''
	bloomctl_ok swap -q -k cards.keyspec -t dir:t
	assert_stdout_is ''
	bloomctl_ok swap -q --prune -k cards.keyspec -t dir:t
	assert_stdout_is ''
	bloomctl_ok verify -q -k cards.keyspec -t dir:t -s file:rows.csv
	assert_stdout_is ''
	bloomctl_ok inspect -q -k cards.keyspec -t dir:t --format csv
	((${#lines[@]} == 5))
	bloomctl_ok size -q --buckets 1 --keys 5 --format csv
	((${#lines[@]} == 2))
	bloomctl_ok key -q -k cards.keyspec --format csv 5 m:5
	((${#lines[@]} == 2))
}

# --- files, rights, names --------------------------------------------

@test "cli: files it makes have the rights that the umask leaves" {
	write_csv rows.csv 1 10
	umask 077
	bloomctl_ok build -q -k cards.keyspec -t dir:t -s file:rows.csv \
		--receipt got.json
	[[ -z $(find t got.json -perm /077 ! -type l) ]]
}

@test "cli: a path with blanks, quotes and newlines works, and makes one line" {
	local odd=$'a b\'"\n*'
	mkdir "$odd"
	write_csv "$odd/rows.csv" 1 10
	write_keyspec "$odd/k"
	bloomctl_ok build -q -k "$odd/k" -t "dir:$odd/t" \
		-s "file:$odd/rows.csv" --receipt "$odd/got.json"
	bloomctl_ok swap -k "$odd/k" -t "dir:$odd/t"
	bloomctl_run inspect -k "$odd/k" -t "dir:$odd/none"
	assert_failure 66 inspect
	bloomctl_run build -k "$odd/k" -t "dir:$odd/t" -s "file:$odd/none"
	assert_failure 66 build
	bloomctl_run build -k "$odd/none" -t "dir:$odd/t" -s file:x
	assert_failure 78 build
	bloomctl_run build -k "$odd/k" -t "dir:$odd/t" \
		-s "file:$odd/rows.csv" -q --receipt "$odd/none/x"
	assert_failure 74 build
	bloomctl_run key --config "$odd/none" -k "$odd/k" 5 m:5
	assert_failure 78 key
}
