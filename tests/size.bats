#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# bloomctl size: the numbers of a plan.
bats_require_minimum_version 1.5.0

load helpers

setup() {
	begin
}

@test "size: counted rows give the capacity of the fullest bucket" {
	write_csv rows.csv 1 1000
	bloomctl_ok size -k cards.keyspec -s file:rows.csv --format json
	printf '%s\n' "$output" >plan.json
	# The fullest of the four buckets has 262 of these rows; a quarter more
	# is 328, and one is the sentinel.
	assert_json plan.json '.keys == 1000' '.counted' '.buckets == 4' \
		'.hottest == 262' '.capacity == 329' '.headroom == 25' \
		'.error == 0.01' '.hashes == 7' '.bits == 3200' \
		'.filter_bytes == 32 + 64 + 400' '.set_bytes == 4 * 496' \
		'.rebuild_bytes == 8 * 496' '.peak_bytes == 12 * 496' \
		'.limit_bytes == null' '.fewest_buckets == null' \
		'.engine == "redisbloom"'
}

@test "size: planned keys give a capacity that the fullest bucket keeps to" {
	# The smallest c such that 200 binomial tails above it, of 1,000,000
	# keys with 1/200 each, are together below one in a million.
	python3 - >want <<-'END'
		import math
		n, buckets = 1000000, 200
		p = 1 / buckets
		def pmf(x):
		    return math.exp(math.lgamma(n + 1) - math.lgamma(x + 1)
		        - math.lgamma(n - x + 1) + x * math.log(p)
		        + (n - x) * math.log1p(-p))
		tail, c = 0.0, 7000
		while True:
		    tail += pmf(c)
		    if tail * buckets >= 1e-6:
		        break
		    c -= 1
		print(c)
	END
	bloomctl_ok size --buckets 200 --keys 1000000 --format json \
		--headroom 0
	printf '%s\n' "$output" >plan.json
	assert_json plan.json ".hottest == $(<want)" '.counted == false' \
		".capacity == $(<want) + 1"
}

@test "size: one bucket holds all keys" {
	bloomctl_ok size --buckets 1 --keys 5000 --headroom 10 --format json
	printf '%s\n' "$output" >plan.json
	assert_json plan.json '.hottest == 5000' '.capacity == 5501'
}

# grouped FILTER FILE: a number of five digits at most, as tables show it.
grouped() {
	json "$@" | sed 's/\(.\)\(...\)$/\1,\2/'
}

@test "size: table, JSON and CSV say the same" {
	bloomctl_ok size --buckets 8 --keys 10000
	assert_has "$output" 'redisbloom' '10,000 (planned)' 'error rate' \
		'0.01 at capacity' 'live and new' 'traffic saved' '99.00 %'
	table=$output
	bloomctl_ok size --buckets 8 --keys 10000 --format json
	printf '%s\n' "$output" >plan.json
	bloomctl_ok size --buckets 8 --keys 10000 --format csv
	[[ ${lines[0]} == "$(json 'keys_unsorted | join(",")' plan.json)" ]]
	[[ ${lines[1]} == "$(json '[.[] | if . == null then "" else . end] |
		map(tostring) | join(",")' plan.json)" ]]
	assert_has "$table" "$(grouped .capacity plan.json) a filter" \
		"$(grouped .hottest plan.json) keys" \
		"$(grouped .bits plan.json) a filter"
}

@test "size: percentages are shown as people write them" {
	local percent
	for percent in 5 10 50 100 12.5 1000; do
		bloomctl_ok size --buckets 1 --keys 100 --headroom $percent
		assert_has "$output" "($percent % headroom, 1 sentinel)"
	done
}

@test "size: a lower error rate takes more bits and more hashes" {
	local rate hashes=0 bits=0
	for rate in 0.25 0.1 0.01 0.001 1e-6; do
		bloomctl_ok size --buckets 1 --keys 1000 --error "$rate" \
			--format json
		printf '%s\n' "$output" >plan.json
		assert_json plan.json ".error == $rate" ".hashes > $hashes" \
			".bits > $bits"
		hashes=$(json .hashes plan.json)
		bits=$(json .bits plan.json)
	done
}

@test "size: --limit prints the fewest buckets, and one less is too few" {
	local fewest
	bloomctl_ok size --buckets 1 --keys 1000000 --limit 64K --format json
	printf '%s\n' "$output" >plan.json
	fewest=$(json .fewest_buckets plan.json)
	bloomctl_ok size --buckets "$fewest" --keys 1000000 --format json
	printf '%s\n' "$output" >plan.json
	assert_json plan.json '.filter_bytes <= 65536'
	bloomctl_ok size --buckets $((fewest - 1)) --keys 1000000 \
		--format json
	printf '%s\n' "$output" >plan.json
	assert_json plan.json '.filter_bytes > 65536'
}

@test "size: what no number of buckets can hold is 73" {
	bloomctl_run size --buckets 1 --keys 100000000000 --limit 1K
	assert_failure 73 size '100000000000 keys'
	bloomctl_run size --buckets 1 --keys 5000000000 --engine redis8
	assert_failure 73 size 'capacity'
}

@test "size: each engine has its bytes and its limit" {
	local engine overhead bytes limit
	while read -r engine overhead bytes limit; do
		bloomctl_ok size --buckets 1 --keys 1000 --headroom 0 \
			--engine "$engine" --format json
		printf '%s\n' "$output" >plan.json
		assert_json plan.json ".engine == \"$engine\"" \
			'.capacity == 1001' ".bits == 8 * $bytes" \
			".filter_bytes == $overhead + $bytes" \
			".limit_bytes == $limit" \
			"(.fewest_buckets == null) == ($limit == null)"
	done <<-'END'
		redisbloom 96 1200 null
		redis8 96 1200 null
		valkey-bloom 264 1200 134217728
		elasticache 264 1200 134217728
	END
}

@test "size: what the engine cannot hold is 73, and the hint is enough" {
	local fewest
	bloomctl_run size --buckets 1 --keys 500000000 --engine elasticache
	assert_failure 73 size 'capacity 625000001' \
		'elasticache allows 134217728'
	fewest=$(sed -n 's/^hint: .* over \([0-9]*\) buckets or more$/\1/p' \
		<<<"$stderr")
	bloomctl_ok size --buckets "$fewest" --keys 500000000 \
		--engine elasticache
	assert_has "$output" "fewest buckets" "$fewest keep a filter" \
		'128.0 MiB'
	bloomctl_run size --buckets $((fewest - 1)) --keys 500000000 \
		--engine elasticache
	assert_failure 73 size
	# With more than a limit of its own, the one that is given counts.
	bloomctl_ok size --buckets 200 --keys 500000000 --limit 4M \
		--engine valkey-bloom --format json
	printf '%s\n' "$output" >plan.json
	assert_json plan.json '.limit_bytes == 4194304' \
		".fewest_buckets > $fewest" '.filter_bytes <= 4194304'
}

@test "size: a keyspec without a sentinel needs no place for it" {
	write_keyspec bare.keyspec sentinel=none
	bloomctl_ok size -k bare.keyspec --keys 1000 --headroom 0 --format json
	printf '%s\n' "$output" >plan.json
	assert_json plan.json '.capacity == .hottest'
}

@test "size: no key at all is a plan for one" {
	bloomctl_ok size --buckets 3 --keys 0 --format json
	printf '%s\n' "$output" >plan.json
	assert_json plan.json '.keys == 0' '.hottest == 0' '.capacity >= 1'
}

@test "size: with --jobs the same rows give the same plan" {
	write_text rows.txt 1 200000
	bloomctl_ok size -k cards.keyspec -s file:rows.txt \
		--input-format text --columns id,scope
	one=$output
	bloomctl_ok size -k cards.keyspec -s file:rows.txt -j 4 \
		--input-format text --columns id,scope
	assert_stdout_is "$one"
}

@test "size: options that do not go together, or that are missing, are 64" {
	write_csv rows.csv 1 10
	local -a case
	while read -ra case; do
		bloomctl_run size "${case[@]}"
		assert_failure 64 size option
	done <<-'END'
		--keys 5
		--buckets 5
		--keyspec cards.keyspec
		--keyspec cards.keyspec --buckets 5 --keys 5
		--keyspec cards.keyspec --source file:rows.csv --keys 5
		--buckets 5 --source file:rows.csv
		--buckets 5 --keys 5 --error 0.51
		--buckets 5 --keys 5 --error 0.26 --engine redis8
		--buckets 5 --keys 5 --error 1e-16
	END
}

@test "size: a row without a key is 65, with row, field and reason" {
	printf 'id,scope\n1,m:1\n,m:2\n' >rows.csv
	bloomctl_run size -k cards.keyspec -s file:rows.csv
	assert_failure 65 size "file 'rows.csv'" 'row 2' "field 'id'" null
}
