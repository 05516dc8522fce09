#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What is said in more than one place is the same in all of them: options,
# commands, statuses and reasons in the tables, in --help, in the manual pages
# and in the completion.
bats_require_minimum_version 1.5.0

setup() {
	source_dir=${BLOOMCTL_SRCDIR:-$BATS_TEST_DIRNAME/..}
	: "${BUILD:=$source_dir/build/plain}"
	: "${BLOOMCTL:=$BUILD/bloomctl}"
	unset ARGP_HELP_FMT
	cd "$BATS_TEST_TMPDIR" || return
	# "COMMAND --long [-s] [ARGUMENT]", an option a line.
	# shellcheck disable=SC2094 # "list" is an argument there, and no file
	"$BUILD/gen-completion" list >list
	[[ -s list ]]
	commands=$(cut -d ' ' -f 1 list | uniq)
}

# same A B: two files are the same, and not empty.
same() {
	[[ -s $1 ]]
	diff -u "$1" "$2"
}

# table COMMAND: "--long [-s] [ARGUMENT]" of its options, from the table.
table() {
	sed -n "s/^$1 //p" list | sort
}

# section PAGE NAME: the lines of one section of a manual page.
section() {
	awk -v name="$2" '
		/^\.Sh / { within = (substr($0, 5) == name); next }
		within' "$source_dir/man/$1"
}

# table_rows FILE MACRO: "NUMBER TEXT" or whatever stands behind the name.
table_rows() {
	sed -n "s/^$2(\([A-Z_]*\), \([-0-9]*\), \"\(.*\)\")\$/\2 \3/p" \
		"$source_dir/$1"
}

@test "options: every command has a page whose options are the table's" {
	local command
	for command in $commands; do
		table "$command" >expected
		section "bloomctl-$command.1" OPTIONS |
			sed -n -e 's/^\.It Fl \(.\) , Fl -\([a-z-]*\)/--\2 -\1/p' \
				-e 's/^\.It Fl -\([a-z-]*\)/--\1/p' |
			sed -e 's/ Ar / /' | grep -v -e '^--help ' -e '^--usage$' |
			sort >found || true
		same expected found
		grep -qx '\.It Fl \\&? , Fl -help' \
			"$source_dir/man/bloomctl-$command.1"
	done
}

@test "options: --help of every command lists the table's options" {
	local command
	for command in $commands; do
		table "$command" >expected
		run --separate-stderr "$BLOOMCTL" "$command" --help
		((status == 0))
		[[ -z $stderr ]]
		# An argument is told once, with the long name.
		sed -n -e 's/^  -\(.\), --\([a-z-]*\)/--\2 -\1/p' \
			-e 's/^      --\([a-z-]*\)/--\1/p' <<<"$output" |
			sed -e 's/^\(--[a-z-]*\( -[^ =]\)\{0,1\}\(=[^ ]*\)\{0,1\}\) .*/\1/' \
				-e 's/=/ /' \
				-e 's/^\(--[a-z-]*\) -\(.\) \(.*\)$/\1 -\2 \3/' \
				-e 's/^\(--[a-z-]*\) \([^-].*\) -\(.\)$/\1 -\3 \2/' |
			sed -e 's/^\(--[a-z-]*\) -\(.\)=\(.*\)/\1 -\2 \3/' |
			grep -v -e '^--help' -e '^--usage' -e '^--version' |
			sort >found
		same expected found
	done
}

@test "options: --help of every command says what the table says of each" {
	local command name text
	# "LONG<tab>HELP", from rows of one or more lines.
	sed '1,/^ \*\/$/d' "$source_dir/cmd/options.def" | tr '\n\t' '  ' |
		sed 's/OPTION(/\n/g; s/$/\n/' |
		sed -n 's/^[A-Z_]*, "\([a-z-]*\)",.*, *"\(.*\)") *$/\1\t\2/p' |
		sed 's/\\\\/\\/g' >texts
	(($(wc -l <texts) == $(grep -c '^OPTION(' "$source_dir/cmd/options.def")))
	for command in $commands; do
		"$BLOOMCTL" "$command" --help | tr -s ' \n' '  ' >help
		while IFS=$'\t' read -r name text; do
			grep -q "^$command --$name\\( \\|\$\\)" list || continue
			grep -qF -- "$text" help || {
				echo "$command --help does not say of --$name: $text"
				return 1
			}
		done <texts
	done
}

@test "options: bloomctl.conf.5 names every option with its commands" {
	awk '$2 !~ /^--(config|rollback|prune|retire|adopt|check|stdin|fingerprint|sentinel)$/ {
			name = substr($2, 3)
			on[name] = on[name] (on[name] == "" ? "" : ", ") $1
			n[name]++
			all[$1] = 1
		}
		END {
			for (command in all)
				count++
			for (name in on)
				print name ": " (n[name] == count ? "every command" : on[name])
		}' list | sort >expected
	section bloomctl.conf.5 OPTIONS |
		awk '/^\.It Cm / { name = $3; getline; print name ": " $0 }' |
		sort >found
	same expected found
}

@test "options: every option of bloomctl.conf.5 is read from a file" {
	local name value command
	printf '%s\n' '[keyspec]' 'version = 1' 'name = n' 'key = {id}' \
		'buckets = 1' 'filter = {name}' >n.keyspec
	section bloomctl.conf.5 OPTIONS | sed -n 's/^\.It Cm \([a-z-]*\) .*/\1/p' \
		>names
	[[ -s names ]]
	while read -r name; do
		command=$(grep -m 1 -- " --$name\\( \\|\$\\)" list | cut -d ' ' -f 1)
		# No option takes a word with a NUL's picture in it, or the
		# command complains about something else: then it was read.
		value='%'
		printf '%s = %s\n' "$name" "$value" >one.conf
		run --separate-stderr "$BLOOMCTL" "$command" --config one.conf
		((status != 0))
		[[ $stderr != *"is no option of bloomctl"* ]] || {
			echo "$name: $stderr"
			return 1
		}
	done <names
}

@test "options: a mode of a command is for the command line only" {
	local name
	for name in rollback prune retire adopt check stdin fingerprint sentinel config; do
		echo "$name = yes" >one.conf
		run --separate-stderr "$BLOOMCTL" swap --config one.conf
		((status == 78))
		[[ $stderr == *"option --$name: on the command line only"* ]]
	done
}

@test "options: a name that no command has is refused in a file" {
	echo 'capacities = 7' >one.conf
	run --separate-stderr "$BLOOMCTL" size --config one.conf
	((status == 78))
	[[ -z $output ]]
	[[ $stderr == *"file 'one.conf': line 1: 'capacities' is no option"* ]]
}

@test "options: EXIT STATUS is 0 and the rows of error.def" {
	{
		echo '0 done'
		table_rows lib/base/error.def ERROR_ROW
	} >expected
	(($(wc -l <expected) > 10))
	section bloomctl.1 'EXIT STATUS' |
		awk '/^\.It [0-9]/ { n = $2; getline; print n " " $0 }' >found
	same expected found
}

@test "options: REJECTS are the reasons of reject.def" {
	table_rows lib/bloomkey/reject.def BLOOMKEY_REJECT_ROW |
		cut -d ' ' -f 2- >expected
	(($(wc -l <expected) > 3))
	section bloomctl.1 REJECTS | sed -n 's/^\.It //p' >found
	same expected found
}

@test "options: the commands of bloomctl.1 and --help are those of the table" {
	local command
	echo "$commands" >expected
	section bloomctl.1 COMMANDS | sed -n 's/^\.It Ic //p' >found
	same expected found
	"$BLOOMCTL" --help >help
	sed -n '/^Commands:$/,/^$/s/^  \([a-z]*\)[[:space:]].*/\1/p' help >found
	same expected found
	for command in $commands; do
		grep -qx "\.Xr bloomctl-$command 1 [,.]\{0,1\}" \
			"$source_dir/man/bloomctl.1" ||
			grep -qx "\.Xr bloomctl-$command 1" \
				"$source_dir/man/bloomctl.1"
		[[ -f $source_dir/man/bloomctl-$command.1 ]]
	done
}

@test "options: what bloomctl.1 says of a command is what --help says" {
	local command text
	"$BLOOMCTL" --help | tr -s ' \t\n' '  ' >help
	for command in $commands; do
		text=$(section bloomctl.1 COMMANDS |
			grep -A 1 -x "\.It Ic $command" | tail -n 1)
		grep -qF -- "$command ${text%;}" help
	done
}

# complete WORD...: what bash would offer for the last word.
complete_words() {
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	_bloomctl
	printf '%s\n' "${COMPREPLY[@]}"
}

@test "options: the completion knows commands, their options and choices" {
	# shellcheck source=/dev/null
	source "$BUILD/bloomctl.bash"
	[[ $(complete_words bloomctl bu) == build ]]
	[[ $(complete_words bloomctl build --key) == $'--keyspec\n--keys' ]]
	[[ $(complete_words bloomctl swap --ro) == --rollback ]]
	[[ $(complete_words bloomctl size --format j) == json ]]
	[[ $(complete -p bloomctl) == *"-F _bloomctl bloomctl" ]]
}

@test "options: the completion offers every option of the table" {
	local command
	# shellcheck source=/dev/null
	source "$BUILD/bloomctl.bash"
	for command in $commands; do
		{
			sed -n "s/^$command \(--[a-z-]*\).*/\1/p" list
			echo --help
		} | sort >expected
		complete_words bloomctl "$command" -- | sort >found
		same expected found
	done
}

@test "options: every page that a page refers to is there" {
	local page section
	while read -r page section; do
		# What is not ours is the system's: cron(8), flock(2).
		[[ $page != bloom* && $page != keyspec ]] ||
			[[ -f $source_dir/man/$page.$section ]] || {
			echo "$page($section) is not there"
			return 1
		}
	done < <(sed -n 's/^\.Xr \([a-z.-]*\) \([0-9]\).*/\1 \2/p' \
		"$source_dir"/man/*.[1-8] | sort -u)
}

@test "options: the pages please mandoc" {
	[[ -n $(type -P mandoc) ]] # of scripts/install-deps
	run mandoc -T lint -W warning "$source_dir"/man/*.[1-8]
	echo "$output"
	((status == 0))
}
