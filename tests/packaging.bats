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

# outside PREFIX: a program that is built by pkg-config alone, with either of
# the libraries, is what the installed verify-writer wants.
outside() {
	local -x PKG_CONFIG_PATH=$1/lib/pkgconfig
	local -a flags
	local agree='^verify-writer: [0-9]+ rows of [0-9]+ keyspecs agree$'
	mkdir "$BATS_TEST_TMPDIR/outside"
	cp tests/writers/c/writer.c "$BATS_TEST_TMPDIR/outside"
	pushd "$BATS_TEST_TMPDIR/outside"
	must pkg-config --modversion bloomkey
	[[ $output == "$(sed -n 's/^VERSION = //p' "$tree/config.mk")" ]]
	read -ra flags < <(pkg-config --cflags --libs bloomkey)
	must "${CC:-cc}" -Wall -Wextra -Werror writer.c -o writer "${flags[@]}"
	must env LD_LIBRARY_PATH="$1/lib" \
		"$1/share/bloomkey/verify-writer" ./writer
	[[ $output =~ $agree ]]

	# Without the link for the linker there is only the archive.
	mv "$1/lib/libbloomkey.so" .
	read -ra flags < <(pkg-config --static --cflags --libs bloomkey)
	must "${CC:-cc}" -Wall -Wextra -Werror writer.c -o static "${flags[@]}"
	mv libbloomkey.so "$1/lib"
	must "$1/share/bloomkey/verify-writer" --only example-cards \
		--only example-products --only example-phones ./static
	[[ $output =~ $agree ]]
	popd
}

@test "packaging: a fresh checkout builds, installs, and uninstalls all of it" {
	local dest=$BATS_TEST_TMPDIR/dest there=$BATS_TEST_TMPDIR/there file
	must make -s -j "$(nproc)" CFLAGS=-O0 install "DESTDIR=$dest" prefix=/usr
	for file in bin/bloomctl lib/libbloomkey.a include/bloomkey.h \
		lib/libbloomkey.so lib/libbloomkey.so.1 \
		lib/libbloomkey.so.1.0.0 lib/pkgconfig/bloomkey.pc \
		share/doc/bloomctl/SPEC.md \
		share/bash-completion/completions/bloomctl; do
		[[ -s $dest/usr/$file ]]
	done
	for file in man/*.[1-8]; do
		[[ -s $dest/usr/share/man/man${file##*.}/${file#man/} ]]
	done
	for file in lib/bloomkey/vectors/*.tsv; do
		[[ -s $dest/usr/share/bloomkey/vectors/${file##*/} ]]
	done
	[[ -x $dest/usr/share/bloomkey/verify-writer ]]
	must "$dest/usr/bin/bloomctl" --version
	[[ $output == *"$(sed -n 's/^VERSION = //p' config.mk)"* ]]
	must cat "$dest/usr/lib/pkgconfig/bloomkey.pc"
	[[ $output == *"prefix=/usr"$'\n'* && $output != *@* &&
		$output == *"libdir=\${prefix}/lib"$'\n'* ]]
	must make CFLAGS=-O0 uninstall "DESTDIR=$dest" prefix=/usr
	must find "$dest" ! -type d
	[[ -z $output ]]

	# The same build goes to another prefix.
	must make CFLAGS=-O0 install "prefix=$there"
	[[ $output != *" -o "* ]]
	outside "$there"
	must make CFLAGS=-O0 uninstall "prefix=$there"
	must find "$there" ! -type d
	[[ -z $output ]]

	# Nothing is made twice, and other flags make everything again.
	must make CFLAGS=-O0
	[[ $output != *" -o "* ]]
	must make -n CFLAGS=-O1
	[[ $output == *"/cmd/bloomctl.o"* && $output == *" -shared "* ]]
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
