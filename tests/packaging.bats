#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What someone who packages bloomctl relies on, each in a copy of the tree.
bats_require_minimum_version 1.5.0

setup() {
	[[ ${VARIANT:-plain} == plain ]] ||
		skip "the build is the same under sanitizers"
	tree=$BATS_TEST_TMPDIR/tree
	mkdir "$tree"
	tar -C "$BATS_TEST_DIRNAME/.." -cf - --exclude=./.git --exclude=./build \
		--exclude=./autom4te.cache --exclude=./configure \
		--exclude=./config.mk --exclude=./config.log \
		--exclude=./config.status --exclude='./*.tar.gz' . |
		tar -C "$tree" -xf -
	cd "$tree"
}

# must COMMAND...: it succeeds, and says on failure what it said.
must() {
	run --separate-stderr "$@"
	echo "$*: status $status"
	echo "$output"
	echo "$stderr"
	((status == 0))
}

@test "packaging: clean, distclean and help do not configure" {
	must make clean distclean help
	[[ ! -e configure ]]
	[[ ! -e config.mk ]]
}

@test "packaging: an unpacked tarball makes the same tarball again" {
	must make dist
	must tar -xzf bloomctl-*.tar.gz -C "$BATS_TEST_TMPDIR"
	[[ ! -e config.mk ]]
	cd "$BATS_TEST_TMPDIR"/bloomctl-*/
	[[ -x configure ]]
	umask 077
	must make dist
	must cmp bloomctl-*.tar.gz "$tree"/bloomctl-*.tar.gz
}

@test "packaging: a tarball that lacks a file is not made" {
	rm COPYING
	run --separate-stderr make dist
	((status != 0))
	run compgen -G 'bloomctl-*.tar*'
	((status != 0))
}

@test "packaging: a fresh checkout builds, installs, and uninstalls all of it" {
	local dest=$BATS_TEST_TMPDIR/dest file
	must make -s -j "$(nproc)" CFLAGS=-O0 install "DESTDIR=$dest" prefix=/usr
	for file in bin/bloomctl lib/libbloomkey.a include/bloomkey.h \
		share/bash-completion/completions/bloomctl; do
		[[ -s $dest/usr/$file ]]
	done
	for file in man/*.[1-8]; do
		[[ ! -e $file ]] ||
			[[ -s $dest/usr/share/man/man${file##*.}/${file#man/} ]]
	done
	must "$dest/usr/bin/bloomctl" --version
	[[ $output == *"$(sed -n 's/^VERSION = //p' config.mk)"* ]]

	# An outside program, in C and in C++.
	cat >outside.c <<-'END'
		#include <bloomkey.h>
		int main(void)
		{
			bloomkey_free(0);
			return bloomkey_reason(1) != 0;
		}
	END
	must "${CC:-cc}" -std=c99 -pedantic-errors -Wall -Werror \
		"-I$dest/usr/include" -o outside outside.c \
		"$dest/usr/lib/libbloomkey.a" -lcrypto
	must ./outside
	if [[ -n $(type -P g++) ]]; then
		must g++ -x c++ -Wall -Werror "-I$dest/usr/include" \
			-fsyntax-only outside.c
	fi

	must make CFLAGS=-O0 uninstall "DESTDIR=$dest" prefix=/usr
	must find "$dest" -type f
	[[ -z $output ]]

	# Nothing is made twice, and other flags make everything again.
	must make CFLAGS=-O0
	[[ $output != *" -c -o "* ]]
	must make -n CFLAGS=-O1
	[[ $output == *"/cmd/bloomctl.o"* ]]
}

@test "packaging: a changed configure.ac keeps the options that were given" {
	must make configure
	must ./configure --enable-sanitizers=thread --prefix=/opt/elsewhere
	touch -d '+2 seconds' configure.ac
	must make -n help all
	must grep -q '^prefix = /opt/elsewhere$' config.mk
	must grep -q '^DEFAULT_VARIANT = tsan$' config.mk
}

@test "packaging: what is missing is named with its package, all at once" {
	must make configure
	run --separate-stderr env PKG_CONFIG_LIBDIR=/nonexistent ./configure
	((status != 0))
	[[ $stderr == *jansson*"Debian: libjansson-dev"* ]]
	[[ $stderr == *libcrypto*"Debian: libssl-dev"* ]]
	[[ ! -e config.mk ]]
}
