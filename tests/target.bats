#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Targets that are servers, and how to log in: what is refused before anything
# is asked, and that no password is shown.
bats_require_minimum_version 1.5.0

load helpers

setup() {
	begin
	write_csv rows.csv 1 10
	# Nobody listens there: what gets so far was not refused before.
	far=redis://127.0.0.1:1
	store_commands=(build swap inspect verify lookup doctor)
}

# arguments COMMAND: what it needs beside its target.
arguments() {
	words=(-k cards.keyspec)
	case $1 in
	build) words+=(-s file:rows.csv --keys 10) ;;
	verify) words+=(-s file:rows.csv) ;;
	lookup) words+=(1 m:1) ;;
	esac
}

@test "target: a password on the command line is 64 in every command, and not shown" {
	local command
	for command in "${store_commands[@]}"; do
		arguments "$command"
		for target in redis://:hunter2@127.0.0.1:1 \
			valkeys://me:hunter2@h/3; do
			bloomctl_run "$command" "${words[@]}" -t "$target"
			assert_failure 64 "$command" 'option --target' \
				'on the command line'
			assert_has "$stderr" BLOOMCTL_TARGET --password-file
			assert_lacks "$output$stderr" hunter2
		done
	done
}

# unreached COMMAND: it says so, and no password; to doctor it is a finding.
unreached() {
	assert_status 69
	[[ $1 == doctor ]] || assert_one_sentence "$1" redis://127.0.0.1:1
	assert_has "$output$stderr" redis://127.0.0.1:1
	assert_lacks "$output$stderr" hunter2
}

@test "target: a password in the environment or the configuration is taken, and not shown" {
	local command
	echo "target = redis://me:hunter2@127.0.0.1:1" >a.conf
	for command in "${store_commands[@]}"; do
		arguments "$command"
		BLOOMCTL_TARGET=redis://me:hunter2@127.0.0.1:1 \
			bloomctl_run "$command" "${words[@]}"
		unreached "$command"
		bloomctl_run "$command" "${words[@]}" --config a.conf
		unreached "$command"
	done
}

@test "target: a target that is none is 64, and shows no password either" {
	local target
	for target in redsi://me:hunter2@h redis://me:hunter2@h:port \
		redis://me:hunter2@ redis://me:hunter2@h/db rediss:me:hunter2@h \
		'redis://me:hunter2@[::1' 'redis://me:hunter2%zz@h'; do
		BLOOMCTL_TARGET=$target bloomctl_run inspect -k cards.keyspec
		assert_failure 64 inspect target
		assert_lacks "$output$stderr" hunter2
	done
	BLOOMCTL_TARGET=redis://me:hunter2@h bloomctl_run export \
		-s file:rows.csv
	assert_failure 64 export "target 'redis'"
	assert_lacks "$output$stderr" hunter2
}

@test "target: file and command of a password exclude each other" {
	bloomctl_run inspect -k cards.keyspec -t "$far" --password-file p \
		--password-command 'echo p'
	assert_failure 64 inspect --password-file --password-command
	# From two places the stronger one counts: the file is not there.
	BLOOMCTL_PASSWORD_COMMAND='touch ran' bloomctl_run inspect \
		-k cards.keyspec -t "$far" --password-file p
	[[ ! -e ran ]]
}

@test "target: on the command line an option for servers beside a folder is 64" {
	local option
	for option in '--user me' '--password-file p' '--password-command p' \
		'--tls-ca f' '--tls-cert f' '--tls-key f' '--tls-name n' \
		--tls-insecure '--timeout 3s'; do
		# shellcheck disable=SC2086 # an option and its argument
		bloomctl_run inspect -k cards.keyspec -t dir:t $option
		assert_failure 64 inspect "option ${option%% *}" \
			'for a server'
	done
	for option in '--wait-replicas 1' '--allow-eviction 5'; do
		# shellcheck disable=SC2086
		bloomctl_run build -k cards.keyspec -t dir:t \
			-s file:rows.csv $option
		assert_failure 64 build "option ${option%% *}" 'for a server'
	done
	[[ ! -e t ]]
}

@test "target: in the environment they are for other targets" {
	export BLOOMCTL_USER=me BLOOMCTL_TIMEOUT=3s BLOOMCTL_TLS_CA=none \
		BLOOMCTL_PASSWORD_FILE=none BLOOMCTL_WAIT_REPLICAS=3 \
		REDISCLI_AUTH=hunter2
	make_live rows.csv
	bloomctl_ok inspect -k cards.keyspec -t dir:t
}

@test "target: options of TLS without TLS are 64, and a key without a certificate" {
	bloomctl_run inspect -k cards.keyspec -t "$far" --tls-ca f
	assert_failure 64 inspect 'option --tls-ca' rediss://
	bloomctl_run inspect -k cards.keyspec -t unix:s --tls-insecure
	assert_failure 64 inspect 'option --tls-insecure' rediss://
	bloomctl_run inspect -k cards.keyspec -t rediss://127.0.0.1:1 \
		--tls-key f
	assert_failure 64 inspect 'option --tls-key' --tls-cert
	bloomctl_run inspect -k cards.keyspec -t REDISS://127.0.0.1:1 \
		--tls-ca missing.pem
	assert_failure 78 inspect "file 'missing.pem'"
}

@test "target: durations and numbers out of range are 64" {
	local value
	for value in 0s 30 2d 500ms -1s; do
		bloomctl_run inspect -k cards.keyspec -t "$far" \
			"--timeout=$value"
		assert_failure 64 inspect 'option --timeout' "$value"
	done
	bloomctl_run build --wait-replicas 1001
	assert_failure 64 build 'option --wait-replicas'
	bloomctl_run build --allow-eviction 5G
	assert_failure 64 build 'option --allow-eviction'
}

@test "target: a file that others can write and that names a command for a password is 78" {
	echo 'password-command = touch ran' >a.conf
	chmod 666 a.conf
	bloomctl_run inspect -k cards.keyspec -t "$far" --config a.conf
	assert_failure 78 inspect "file 'a.conf': line 1: password-command" \
		'others may write'
	[[ ! -e ran ]]
	# Also for a command that would not use it.
	bloomctl_run key -k cards.keyspec --config a.conf 1 m:1
	assert_failure 78 key password-command
}
