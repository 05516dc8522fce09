#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# scripts/verify-writer: it sees whatever a program does otherwise than the
# vectors say, and tells it.
# shellcheck disable=SC2016 # the writers expand their own text
bats_require_minimum_version 1.5.0

load helpers

setup() {
	begin_vectors
}

# writer: a program of Bash from standard input, in which model is the model.
writer() {
	{
		printf '#!/usr/bin/env bash\nset -o pipefail\n'
		printf 'model() { "$model" "$@"; }\n'
		cat
	} >writer
	chmod +x writer
}

# caught ID PART...: a writer is refused for that keyspec, saying each PART.
caught() {
	local id=$1
	shift
	any_run "$verify" --only "$id" ./writer
	assert_status 1
	assert_has "$output" "keyspec $id" "$@"
	[[ $stderr =~ verify-writer:\ (differences:\ [0-9]|[0-9]+\ differences) ]]
}

@test "verify-writer: a writer that does it right in its own way agrees" {
	# All of the input first, then all answers; also when that is large.
	writer <<<'cat >input.$$; model "$@" <input.$$'
	any_run "$verify" --only large --only utf-8 --only example-phones \
		--only bad-nul ./writer
	assert_status 0
	assert_has "$output" ' of 4 keyspecs agree'
	# ARGs come before the keyspec's path.
	writer <<<'[[ $1 == a && $2 == "b c" && $# == 3 ]] && model "$3"'
	any_run "$verify" --only plain -- ./writer a 'b c'
	assert_status 0
}

@test "verify-writer: lines that are missing, more or in another order" {
	writer <<<'model "$1" | sed 3d'
	caught plain 'expected:' 'lines' 'got:'
	writer <<<'model "$1" | sed "\$d"'
	caught plain "got:      $(($(grep -c '^plain'$'\t' \
		"$vectors/rows.tsv") - 1)) lines"
	writer <<<'model "$1"; echo "!null"'
	caught plain 'lines'
	writer <<<'model "$1" | tac'
	caught plain 'Ascii: an ordinary value'
	writer <<<'cat >/dev/null'
	caught plain 'got:      0 lines'
	writer <<<'exit 0'
	caught large 'got:      0 lines'
	writer <<<'printf %s "$(model "$1")"'
	caught plain 'every line ended by 0x0A'
}

@test "verify-writer: lines that are written otherwise" {
	writer <<<'model "$1" | tr a-f A-F'
	caught example-cards 'line 2 of rows.tsv' 'LastField'
	writer <<<'model "$1" | sed "s/\$/\r/"'
	caught plain '\x0d'
	writer <<<'model "$1" | tr "\t" " "'
	caught plain 'Ascii'
	writer <<<'model "$1" | sed "s/^!.*/!/"'
	caught example-cards 'expected: !delimiter' 'got:      !'
	writer <<<'model "$1" | cut -f 1-3'
	caught plain
	# A leading zero of the hash is lost.
	writer <<<'model "$1" | sed "s/\t0*/\t/"'
	caught buckets-200 LeadingZeros
}

@test "verify-writer: another exit status, or output with 78" {
	writer <<<'model "$1"; exit 1'
	caught plain 'expected: status 0' 'got:      status 1'
	writer <<<'model "$1"; exit 0'
	caught bad-nul 'expected: status 78' 'got:      status 0' ControlBytes
	writer <<<'model "$1"; exit 1'
	caught secret-15 'expected: status 78'
	writer <<<'exit 78'
	caught plain 'got:      status 78'
	writer <<<'model "$1" || { s=$?; echo oops; exit $s; }'
	caught bad-nul 'nothing on standard output' 'got:      oops'
	writer <<<'kill -KILL $$'
	caught plain 'ended by signal 9'
}

@test "verify-writer: output without end is cut off" {
	writer <<<'yes'
	caught plain 'it wrote more than'
	writer <<<'yes >&2 & sleep 0.2; kill $!; wait; model "$1"'
	any_run "$verify" --only plain ./writer
	assert_status 0
}

@test "verify-writer: 20 differences, or all" {
	local all
	all=$(grep -c '^plain'$'\t' "$vectors/rows.tsv")
	((all > 40))
	writer <<<'sed "s/.*/!other/"'
	any_run "$verify" --only plain ./writer
	assert_status 1
	(($(grep -c '^keyspec plain, line' <<<"$output") == 20))
	assert_has "$stderr" '20 differences; --keep-going tells all'
	any_run "$verify" --keep-going --only plain ./writer
	assert_status 1
	(($(grep -c '^keyspec plain, line' <<<"$output") == all))
	# Long values and keys are shortened.
	any_run "$verify" --keep-going --only large ./writer
	assert_status 1
	((${#output} < 6000))
}

@test "verify-writer: secrets come from it alone, and are not told" {
	export KEY=of-the-caller PHONES_SECRET=of-the-caller
	writer <<<'[[ ! -v KEY && ! -v PHONES_SECRET ]] && model "$1"'
	any_run "$verify" --only plain ./writer
	assert_status 0
	any_run "$verify" --only secret-unset-case "$model"
	assert_status 0
	writer <<<'[[ ! -v KEY && -v PHONES_SECRET ]] && model "$1"'
	any_run "$verify" --only example-phones ./writer
	assert_status 0
	# The text that the program says is shown, but not with a secret in it.
	writer <<<'echo "some text" >&2; exit 1'
	caught example-phones 'it said:  some text'
	writer <<<'echo "it is $PHONES_SECRET" >&2; exit 1'
	caught example-phones
	assert_lacks "$output$stderr" "3031323334" 'it said'
	writer <<<'cat "${1%/*}/secret" >&2; exit 1'
	caught secret-in-lf
	assert_lacks "$output$stderr" 0123456789abcdef 'it said'
	# Nothing stays behind.
	mkdir temporary
	TMPDIR=$PWD/temporary any_run "$verify" --only secret-in-lf ./writer
	[[ -z $(ls -A temporary) ]]
}

@test "verify-writer: usage, no vectors, no program" {
	any_run "$verify"
	assert_status 64
	any_run "$verify" --unknown ./writer
	assert_status 64
	any_run "$verify" --only
	assert_status 64
	any_run "$verify" --only nothing "$model"
	assert_status 64
	assert_has "$stderr" "no keyspec 'nothing'"
	any_run "$verify" --vectors nowhere "$model"
	assert_status 66
	any_run "$verify" ./no-such-program
	assert_status 69
	echo text >writer
	chmod -x writer
	any_run "$verify" ./writer
	assert_status 69
	any_run "$verify" --help
	assert_status 0
	assert_has "$output" 'usage: verify-writer'
	# Damaged tables are no vectors.
	cp -r "$vectors" damaged
	sed -i '9s/\t/ /' damaged/rows.tsv
	any_run "$verify" --vectors damaged "$model"
	assert_status 66
	assert_has "$stderr" 'rows.tsv: line 9'
	cp "$vectors/rows.tsv" damaged/
	head -n 3 "$vectors/keyspecs.tsv" >damaged/keyspecs.tsv
	any_run "$verify" --vectors damaged "$model"
	assert_status 66
	assert_has "$stderr" 'no such keyspec'
}

@test "verify-writer: it stands alone beside the vectors" {
	mkdir -p installed/bin installed/share/bloomkey other
	cp "$verify" installed/share/bloomkey/
	cp "$verify" installed/bin/
	cp "$verify" other/
	cp -r "$vectors" installed/share/bloomkey/
	unset PYTHONPATH
	any_run installed/share/bloomkey/verify-writer --only plain "$model"
	assert_status 0
	any_run installed/bin/verify-writer --only plain "$model"
	assert_status 0
	any_run other/verify-writer --only plain "$model"
	assert_status 66
}
