#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Keyed fields and their secrets, through every command: values never stand on
# the command line, and a secret never in anything that is printed or kept.
bats_require_minimum_version 1.5.0

load helpers

# phones.keyspec is a keyspec of telephone numbers, its secret PHONES_SECRET.
setup() {
	begin
	write_keyspec phones.keyspec name=phones 'key=tel:{number}' - <<-'END'
		[field number]
		transform = digits, hmac-sha256
		secret    = env:PHONES_SECRET
	END
	export PHONES_SECRET=HUSH-0123456789-HUSH
}

# fails_unread KEYSPEC: 78, with nothing on standard output, and the rows of
# standard input are all there for the next reader.
fails_unread() {
	seq 3 >rows
	# shellcheck disable=SC2016 # the inner shell expands it
	any_run bash -c '"$@"; status=$?; cat >rest; exit $status' sh \
		"$BLOOMCTL" key -k "$1" --stdin <rows
	assert_failure 78 key
	cmp rows rest
}

@test "keyed: a keyed field is an HMAC of the transformed value" {
	local mac
	mac=$(printf 15550109999 | openssl dgst -sha256 -r \
		-hmac "$PHONES_SECRET" | cut -d ' ' -f 1)
	bloomctl_run key -k phones.keyspec --stdin <<<'+1 (555) 010-9999'
	assert_status 0
	assert_has "$output" "$(hex "tel:$mac")"$'\t'
	bloomctl_run key -k phones.keyspec --stdin --format csv \
		<<<'1.555.010.9999'
	assert_has "$output" "tel:$mac,"
}

@test "keyed: a keyed value on the command line is 64, also a wrong number" {
	local -a values
	# Without a value there is none to refuse, and none is asked for there.
	bloomctl_run key -k phones.keyspec
	assert_failure 64 key 'number of values: 0, where the keyspec has 1'
	assert_has "$stderr" 'hint: ' 'standard input' --stdin
	assert_lacks "$stderr" 'template order'
	for values in 15550109999 '15550109999 2'; do
		# shellcheck disable=SC2086 # words
		bloomctl_run key -k phones.keyspec $values
		assert_failure 64 key "field 'number' is keyed" 'command line'
		assert_has "$stderr" 'hint: ' 'standard input' --stdin
		assert_lacks "$stderr" 1555
	done
	bloomctl_run key -k phones.keyspec --stdin 15550109999 <<<''
	assert_failure 64 key --stdin
	assert_lacks "$stderr" 1555
	bloomctl_run key -k phones.keyspec --fingerprint 15550109999
	assert_failure 64 key --fingerprint
	assert_lacks "$stderr" 1555
	# One keyed field is enough.
	write_keyspec two.keyspec - <<-'END'
		[field scope]
		transform = hmac-sha256
		secret    = env:PHONES_SECRET
	END
	bloomctl_run key -k two.keyspec 1 2
	assert_failure 64 key "field 'scope' is keyed"
}

@test "keyed: a secret that is not there or not good is 78, and never shown" {
	local form secret
	unset PHONES_SECRET
	bloomctl_run key -k phones.keyspec --stdin <<<5
	assert_failure 78 key "keyspec 'phones.keyspec': line 9: secret: " \
		'env:PHONES_SECRET is not set'
	assert_has "$stderr" 'hint: SECRETS in keyspec(5)'
	while read -r form secret; do
		sed "s/= env:/= $form/" phones.keyspec >bad.keyspec
		PHONES_SECRET=$secret bloomctl_run key -v -v -k bad.keyspec \
			--stdin <<<5
		assert_status 78
		assert_stdout_is ''
		assert_has "$stderr" 'line 9: secret: env:PHONES_SECRET is'
		assert_lacks "$stderr" HUSH "$secret"
	done <<-'END'
		env: HUSH-HUSH-HUSH
		hex:env: HUSH-0123456789-HUSH
		hex:env: 00112233445566778899aabbccddee
		base64:env: HUSH0123456789HUSH
	END
	sed 's|= env:.*|= file:no/such|' phones.keyspec >bad.keyspec
	bloomctl_run key -k bad.keyspec --stdin <<<5
	assert_failure 78 key 'file:no/such cannot be read: No such file'
}

@test "keyed: a wrong keyspec or secret is 78 before a row is read" {
	fails_unread none.keyspec
	sed 's/^buckets.*/buckets = 0/' phones.keyspec >bad.keyspec
	fails_unread bad.keyspec
	unset PHONES_SECRET
	fails_unread phones.keyspec
	PHONES_SECRET=short fails_unread phones.keyspec
	# --fingerprint and --sentinel are not without their secret, either.
	local option
	for option in --fingerprint --sentinel; do
		bloomctl_run key -k phones.keyspec $option
		assert_failure 78 key 'env:PHONES_SECRET is not set'
	done
}

@test "keyed: a secret in a file is relative to the keyspec" {
	bloomctl_run key -k phones.keyspec --fingerprint
	local want=$output
	mkdir -p else/where
	sed 's|= env:.*|= file:where/secret|' phones.keyspec >else/phones
	printf '%s\n' "$PHONES_SECRET" >else/where/secret
	unset PHONES_SECRET
	bloomctl_ok key -k else/phones --fingerprint
	assert_stdout_is "$want"
}

@test "keyed: nothing that is printed holds a secret" {
	local option
	for option in --fingerprint --sentinel '--fingerprint --format json' \
		'--sentinel --format csv' '--stdin -vv'; do
		# shellcheck disable=SC2086 # words
		bloomctl_run key -v -v -k phones.keyspec $option <<<5
		assert_status 0
		assert_lacks "$output$stderr" HUSH "$(hex HUSH)"
	done
}

@test "keyed: two secrets differ in the line of the check value alone" {
	bloomctl_run key -k phones.keyspec --fingerprint -v
	printf '%s\n' "$stderr" >here
	PHONES_SECRET=another-0123456789 bloomctl_run key -k phones.keyspec \
		--fingerprint -v
	printf '%s\n' "$stderr" >there
	diff here there >differ || :
	(($(grep -c '^[<>]' differ) == 2))
	(($(grep -c '^[<>] bloomctl key: check=[0-9a-f]\{16\}$' differ) == 2))
}

@test "keyed: a keyed set is asked by standard input; another secret is another set" {
	{ echo number && seq -f '+1 (555) 01-%05.0f' 200; } >phones.csv
	bloomctl_ok size -k phones.keyspec -s file:phones.csv --format json
	printf '%s\n' "$output" >got.json
	assert_json got.json '.keys == 200' '.buckets == 4'
	bloomctl_ok build -q -k phones.keyspec -t dir:p -s file:phones.csv
	bloomctl_ok swap -q -k phones.keyspec -t dir:p
	bloomctl_ok verify -q -k phones.keyspec -t dir:p -s file:phones.csv
	bloomctl_run lookup -q -k phones.keyspec -t dir:p --stdin \
		<<<'1.555.01.00200'
	assert_status 0
	bloomctl_run lookup -q -k phones.keyspec -t dir:p --stdin \
		<<<'1.555.01.00201'
	assert_status 1
	bloomctl_run lookup -k phones.keyspec -t dir:p 15550100200
	assert_failure 64 lookup "field 'number' is keyed" 'command line'
	assert_lacks "$stderr" 1555
	bloomctl_run lookup -k phones.keyspec -t dir:p --stdin <<<1-555-MARKER
	assert_failure 65 lookup "field 'number': no key: digits"
	assert_lacks "$stderr" 555 MARKER
	PHONES_SECRET=another-0123456789 bloomctl_run lookup -k phones.keyspec \
		-t dir:p --stdin <<<'15550100200'
	assert_failure 66 lookup 'not in dir:p'
	PHONES_SECRET=another-0123456789 bloomctl_run inspect \
		-k phones.keyspec -t dir:p
	assert_failure 66 inspect 'not in dir:p'
	# With it there is another set, beside the first one.
	remember_tree "$(set_of p)"
	local first
	first=$(set_of p)
	PHONES_SECRET=another-0123456789 bloomctl_ok build -q \
		-k phones.keyspec -t dir:p -s file:phones.csv
	assert_tree_unchanged "$first"
	(($(printf '%s\n' p/*/ | wc -l) == 2))
	bloomctl_run lookup -q -k phones.keyspec -t dir:p --stdin \
		<<<15550100200
	assert_status 0
}

@test "keyed: every command needs the secret, and none shows it" {
	{ echo number && seq -f '+98765 43210-%03.0f' 200; } >phones.csv
	local command commands=('size -s file:phones.csv'
		'build -t dir:p -s file:phones.csv --receipt build.json'
		'swap -t dir:p --receipt swap.json' 'inspect -t dir:p'
		'verify -t dir:p -s file:phones.csv --receipt verify.json'
		'lookup -t dir:p --stdin' 'key --stdin' 'key --fingerprint')
	unset PHONES_SECRET
	for command in "${commands[@]}"; do
		# shellcheck disable=SC2086 # words
		bloomctl_run $command -vv -k phones.keyspec <<<9876543210200
		assert_failure 78 "${command%% *}" \
			"keyspec 'phones.keyspec': line 9: secret: " \
			'env:PHONES_SECRET is not set'
	done
	[[ ! -e p ]]
	export PHONES_SECRET=HUSH-0123456789-HUSH
	for command in "${commands[@]}"; do
		# shellcheck disable=SC2086 # words
		bloomctl_run $command -vv -k phones.keyspec <<<9876543210200
		assert_status 0
		assert_lacks "$output$stderr" HUSH 485553482d3031 \
			9876543210 '98765 43210'
	done
	# Nor is it, or a value, in a file: of what is kept and of receipts.
	run ! grep -rqaE 'HUSH|485553482d3031|98765 ?43210' p ./*.json
}

@test "keyed: --fingerprint is the SHA-256 of the lines that -v tells" {
	bloomctl_run key -k phones.keyspec --fingerprint -v
	assert_status 0
	[[ $output =~ ^[0-9a-f]{64}$ ]]
	[[ $(printf '%s\n' "${stderr//bloomctl key: /}" | sha256sum) == \
		"$output  -" ]]
	assert_has "$stderr" 'bloomctl key: transform=digits,hmac-sha256' \
		'bloomctl key: check='
	local other
	PHONES_SECRET=another-0123456789 bloomctl_ok key -k phones.keyspec \
		--fingerprint
	other=$output
	bloomctl_ok key -k phones.keyspec --fingerprint
	[[ $output != "$other" ]]
}

@test "keyed: --fingerprint and --sentinel with --format tell all facts" {
	local check
	check=$(printf 'bloomkey check 1' | openssl dgst -sha256 -r \
		-hmac "$PHONES_SECRET")
	bloomctl_ok key -k phones.keyspec --fingerprint
	local fp=$output
	bloomctl_ok key -k phones.keyspec --sentinel --format json
	printf '%s\n' "$output" >got.json
	assert_json got.json '.name == "phones"' '.buckets == 4' \
		".fingerprint == \"$fp\"" \
		".sentinel == \"bloomkey:${fp:0:8}\"" \
		".checks == [{field: \"number\", check: \"${check:0:16}\"}]"
	bloomctl_ok key -k phones.keyspec --fingerprint --format csv
	assert_stdout_is "name,value
name,phones
buckets,4
fingerprint,$fp
sentinel,bloomkey:${fp:0:8}
check number,${check:0:16}"
}
