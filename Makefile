# SPDX-License-Identifier: BSD-2-Clause
#
# The only makefile (GNU make).  `make help` lists the targets.
#
# What is built goes to build/VARIANT/, so that sanitizer and plain objects
# never mix: `make VARIANT=asan check`.  CC, CFLAGS, CPPFLAGS, LDFLAGS, LIBS,
# DESTDIR, prefix and the other folders of the GNU standards may be given.

.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

INSTALL = install
BATS = bats

# Goals that need no configuration must not configure.
ifneq ($(filter-out clean configure distclean dist help,$(or $(MAKECMDGOALS),all)),)
include config.mk
endif

VARIANT = $(DEFAULT_VARIANT)
BUILD = build/$(VARIANT)

all:

# --- configure ------------------------------------------------------------

configure: configure.ac
	autoconf

config.status: configure
	if test -x $@; then ./$@ --recheck; else ./configure; fi

config.mk: config.mk.in config.status
	./config.status $@

# --- flags ----------------------------------------------------------------

FRAME = -fno-omit-frame-pointer
SANITIZE_plain =
SANITIZE_asan = -fsanitize=address,undefined -fno-sanitize-recover=all $(FRAME)
SANITIZE_tsan = -fsanitize=thread $(FRAME)
SANITIZE_fuzz = -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=all $(FRAME)
SANITIZE = $(SANITIZE_$(VARIANT))
ifneq ($(filter-out plain asan tsan fuzz,$(VARIANT)),)
$(error VARIANT is plain, asan, tsan or fuzz, not '$(VARIANT)')
endif

STD = -std=c11 -D_DEFAULT_SOURCE -D_XOPEN_SOURCE=700 -I.
WARN = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wwrite-strings -Wvla -Wformat=2 -Wundef -Wpointer-arith

# Fortified only where it works: with optimization, not under sanitizers, and
# where the flags given do not choose a level themselves.
ifeq ($(SANITIZE)$(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),)
ifneq ($(filter-out -O0,$(lastword $(filter -O%,$(CFLAGS)))),)
FORTIFY = -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
endif
endif

# Hidden symbols for the public library only: in the program they would hide
# argp_program_version from the C library.  bloomkey.h lists those that are not
# hidden.  One set of objects is for the archive and for the shared library.
POSITION = -fPIE
$(BUILD)/lib/bloomkey/%.o: POSITION = -fPIC -fvisibility=hidden \
	-fno-semantic-interposition

# What comes from the command line or the packager stands last and wins.
COMPILE = $(CC) $(STD) $(FILE_FLAGS) $(DEPS_CPPFLAGS) $(FORTIFY) $(CPPFLAGS) \
	$(WARN) -fstack-protector-strong -pthread $(POSITION) $(SANITIZE) \
	$(CFLAGS) $(WERROR) -MMD -MP
LINK = $(CC) -pthread $(CFLAGS) $(SANITIZE) -pie -Wl,-z,relro -Wl,-z,now \
	-Wl,--as-needed $(LDFLAGS)
# Sanitizers leave symbols that only a sanitized program defines.
LINK_SHARED = $(CC) $(CFLAGS) $(SANITIZE) -shared -Wl,-z,relro -Wl,-z,now \
	-Wl,-soname,$(SONAME) -Wl,--version-script=$(KEY_MAP) \
	-Wl,--no-undefined-version -Wl,-Bsymbolic-functions -Wl,--as-needed \
	$(if $(SANITIZE),,-Wl,-z,defs) $(LDFLAGS)

# The version is known to the one file that prints it.
$(BUILD)/cmd/bloomctl.o: FILE_FLAGS = -DBLOOMCTL_VERSION='"$(VERSION)"'

$(BUILD)/lib/redis/%.o: FILE_FLAGS = $(HIREDIS_CFLAGS)
$(BUILD)/lib/pg/%.o: FILE_FLAGS = $(LIBPQ_CFLAGS)
# It looks into a session.
$(BUILD)/tests/unit/rows/test_pgsessions.o: FILE_FLAGS = $(LIBPQ_CFLAGS)

# --- objects --------------------------------------------------------------

LIB_SRC = $(filter-out lib/bloomkey/%,$(wildcard lib/*/*.c))
KEY_SRC = $(wildcard lib/bloomkey/*.c)
CMD_SRC = $(wildcard cmd/*.c)
objects = $(patsubst %.c,$(BUILD)/%.o,$(1))

LIBCTL = $(BUILD)/libbloomctl.a
LIBKEY = $(BUILD)/libbloomkey.a
ARCHIVES = $(LIBCTL) $(LIBKEY)
# bloomkey(3), STABILITY, says when these numbers change.
SO = libbloomkey.so
SONAME = $(SO).1
SO_FILE = $(SONAME).0.0
SHARED = $(addprefix $(BUILD)/,$(SO_FILE) $(SONAME) $(SO))
KEY_MAP = lib/bloomkey/bloomkey.map
ALL_LIBS = $(ARCHIVES) $(DEPS_LIBS) $(LIBS)

# A file that is new only when its content, which a command prints, is another
# one: what depends on it is made again when flags or the list of sources
# change.
define settle
@mkdir -p $(@D)
@$(1) >$@.new
@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
endef
remember = $(call settle,printf '%s\n' '$(subst ','\'',$(1))')

$(BUILD)/flags: FORCE
	$(call remember,$(COMPILE) $(LINK) $(LINK_SHARED) $(DEPS_LIBS) $(LIBS) \
		$(VERSION))
$(BUILD)/sources: FORCE
	$(call remember,$(LIB_SRC) $(KEY_SRC) $(CMD_SRC))
FORCE:

$(BUILD)/%.o: %.c config.mk $(BUILD)/flags
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $<

define archive
rm -f $@
$(AR) qcs $@ $(filter %.o,$^)
$(RANLIB) $@
endef

$(LIBCTL): $(call objects,$(LIB_SRC)) $(BUILD)/sources
	$(archive)
$(LIBKEY): $(call objects,$(KEY_SRC)) $(BUILD)/sources
	$(archive)

$(BUILD)/$(SO_FILE): $(call objects,$(KEY_SRC)) $(KEY_MAP) $(BUILD)/sources
	$(LINK_SHARED) -o $@ $(filter %.o,$^) $(CRYPTO_LIBS)
$(BUILD)/$(SONAME): $(BUILD)/$(SO_FILE)
	ln -sf $(<F) $@
$(BUILD)/$(SO): $(BUILD)/$(SONAME)
	ln -sf $(<F) $@

$(BUILD)/bloomctl: $(call objects,$(CMD_SRC)) $(ARCHIVES) $(BUILD)/sources
	$(LINK) -o $@ $(filter %.o,$^) $(ALL_LIBS)

# --- generated while building ---------------------------------------------

# The completion comes from cmd/options.def, by a program that runs on the
# building machine.
$(BUILD)/gen-completion: cmd/gen/completion.c config.mk $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC_FOR_BUILD) $(STD) $(DEPS_CPPFLAGS) $(WARN) $(WERROR) -MMD -MP \
		-MF $@.d -o $@ $<
$(BUILD)/bloomctl.bash: $(BUILD)/gen-completion
	$< >$@

# Folders may be given to `make install` alone.  Those below the prefix are
# written so that pkg-config can be told another one.
below_prefix = $(patsubst $(prefix)/%,$${prefix}/%,$(1))
$(BUILD)/bloomkey.pc: lib/bloomkey/bloomkey.pc.in FORCE
	$(call settle,sed -e 's|@prefix@|$(prefix)|' \
		-e 's|@libdir@|$(call below_prefix,$(libdir))|' \
		-e 's|@includedir@|$(call below_prefix,$(includedir))|' \
		-e 's|@VERSION@|$(VERSION)|' $<)

# --- tests ----------------------------------------------------------------

FUZZ_SECONDS = 60
DIFFERENTIAL_ROWS = 10000000
FUZZ_CC = clang
LONG_CCS = gcc clang

# TESTS may be given: bats files, tests/unit/F/test_X.c, tests/fuzz/fuzz_X.c.
TESTS = $(filter-out $(if $(SANITIZE),$(UNCOMPILED)),\
	$(wildcard tests/*.bats tests/unit/*/test_*.c tests/fuzz/fuzz_*.c))
# Nothing that they run is compiled: with a sanitizer they say nothing more.
UNCOMPILED = tests/vectors.bats tests/verify-writer.bats \
	tests/languages.bats tests/modules.bats
RUN = $(patsubst tests/unit/%.c,$(BUILD)/tests/%,\
	$(patsubst tests/fuzz/%.c,$(BUILD)/tests/fuzz/%,$(TESTS)))
PROGRAMS = $(filter $(BUILD)/%,$(RUN))
FUZZERS = $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,\
	$(wildcard tests/fuzz/fuzz_*.c))
BENCHES = $(patsubst %.c,$(BUILD)/%,$(wildcard tests/bench/bench_*.c))
FAULT = $(patsubst tests/%.c,$(BUILD)/%.so,$(wildcard tests/fault.c))
ENGINE = $(BUILD)/engine.so
ENGINE_SRC = $(wildcard tests/engine/*.c)
READER = $(BUILD)/reader
FAKE = $(BUILD)/fake_redis
PASS = $(BUILD)/pass
CHANGED = $(BUILD)/changed
SERVICE = $(BUILD)/service
SERVICE_SRC = $(wildcard tests/writers/service/*.c)

# What a test is told: see tests/run.
TEST_ENV = BLOOMCTL="$(CURDIR)/$(BUILD)/bloomctl" BUILD="$(CURDIR)/$(BUILD)" \
	VARIANT="$(VARIANT)" CC="$(CC)" BATS="$(BATS)"

define link-test
@mkdir -p $(@D)
$(LINK) -o $@ $(filter %.o,$^) $(ALL_LIBS)
endef

$(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/%.o $(BUILD)/tests/fuzz/replay.o \
		$(ARCHIVES)
	$(link-test)
$(BUILD)/tests/bench/%: $(BUILD)/tests/bench/%.o $(ARCHIVES)
	$(link-test)
$(CHANGED): $(BUILD)/tests/changed.o $(ARCHIVES)
	$(link-test)
# A unit test that defines __wrap_malloc() is called for malloc(), and so on.
$(BUILD)/tests/%: $(BUILD)/tests/unit/%.o $(ARCHIVES)
	@mkdir -p $(@D)
	$(LINK) -o $@ $< $(ALL_LIBS) $$($(NM) $< | \
		sed -n 's/^.* T __wrap_\(.*\)$$/-Wl,--wrap=\1/p')
$(BUILD)/fuzz/%: $(BUILD)/tests/fuzz/%.o $(ARCHIVES)
	@mkdir -p $(@D)
	$(LINK) -fsanitize=fuzzer -o $@ $< $(ALL_LIBS)

# Preloaded into programs of every variant, so never sanitized itself.
$(BUILD)/fault.so: tests/fault.c config.mk $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) $(WERROR) -fPIC -shared -pthread \
		-MMD -MP -MF $@.d -o $@ $< -ldl

# A module of Redis and Valkey, which are never sanitized.
$(ENGINE): $(ENGINE_SRC) $(wildcard tests/engine/*.h) config.mk $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) $(WERROR) -fPIC -fvisibility=hidden \
		-shared -Wl,-z,defs -o $@ $(filter %.c,$^) -lm

# Other programs than ours, of nothing but the C library: a reader, a fast one,
# and a server that plays a script.  Never sanitized either.
$(READER): $(wildcard tests/readers/*.[ch])
$(FAKE): tests/fake_redis.c
$(READER) $(FAKE): config.mk $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) $(WERROR) -MMD -MP -MF $@.d -o $@ \
		$(filter %.c,$^)

# A store, asked line by line.
$(PASS): $(BUILD)/tests/pass/pass.o $(ARCHIVES)
	$(link-test)

# The example of a writer and a reader.  Of the tree it has libbloomkey only,
# and its header as it is installed.
$(BUILD)/tests/writers/service/%.o: FILE_FLAGS = \
	-Ilib/bloomkey $(HIREDIS_CFLAGS) $(LIBPQ_CFLAGS)
$(SERVICE): $(call objects,$(SERVICE_SRC)) $(LIBKEY)
	$(LINK) -o $@ $(filter %.o,$^) $(LIBKEY) $(DEPS_LIBS) $(LIBS)

# --- targets --------------------------------------------------------------

.PHONY: all install uninstall check check-servers check-long coverage fuzz \
	bench proof dist clean distclean help FORCE

BUILT = $(BUILD)/bloomctl $(ARCHIVES) $(SHARED) $(BUILD)/bloomkey.pc \
	$(BUILD)/bloomctl.bash
all: $(BUILT)

check: $(BUILT) $(PROGRAMS) $(FAULT) $(FAKE) $(PASS)
	@$(TEST_ENV) tests/run $(RUN)

# What they are run against: see tests/run-servers.
SERVERS = redisbloom redisbloom-cluster valkey-bloom-cluster
EACH_ENGINE = redisbloom redisbloom-cluster valkey-bloom valkey-bloom-cluster
ALL_SERVERS = $(EACH_ENGINE) $(addprefix valkey-server:,$(EACH_ENGINE))

check-servers: $(BUILT) $(FAULT) $(ENGINE) $(READER) $(FAKE) $(PASS) \
		$(CHANGED) $(SERVICE)
	@$(TEST_ENV) tests/run-servers $(SERVERS)

# Every parser of foreign bytes is fuzzed, then everything is checked with
# every compiler, with and without sanitizers, then many random rows are
# derived by two implementations, then all is measured.  All kinds of servers
# are taken once.
check-long:
	$(MAKE) VARIANT=fuzz BUILD=build/fuzz CC=$(FUZZ_CC) fuzz
	@set -e; for cc in $(LONG_CCS); do for variant in plain asan; do \
		echo "check-long: $$cc, $$variant"; \
		CUTS=all $(MAKE) VARIANT=$$variant CC=$$cc \
			BUILD=build/$$cc-$$variant check check-servers; \
	done; done
	TEST_TIMEOUT=3600 MOVES_RUNS=50 CARDS_ROWS=5000000 \
		$(MAKE) VARIANT=plain \
		CC=$(firstword $(LONG_CCS)) SERVERS="$(ALL_SERVERS)" \
		BUILD=build/$(firstword $(LONG_CCS))-plain check-servers
	tests/differential --rows $(DIFFERENTIAL_ROWS) --jobs $$(nproc) \
		"build/$(firstword $(LONG_CCS))-plain/bloomctl key --stdin -k"
	$(MAKE) coverage
	$(MAKE) proof
	$(MAKE) bench

# Which error paths no test reaches: tests/coverage.known.
coverage:
	tests/coverage

# With VARIANT=fuzz and a compiler that has libFuzzer.
fuzz: $(FUZZERS)
	@tests/fuzz/run --seconds $(FUZZ_SECONDS) $(FUZZERS)

bench: $(BUILT) $(BENCHES)
	@$(TEST_ENV) tests/bench/run
	@echo
	@$(TEST_ENV) tests/bench/servers
	@echo
	@$(TEST_ENV) tests/bench/postgres

# That nothing committed is missing, whatever is drawn; see tests/proof/proof.
PROOF_RUNS = 100
PROOF_SECONDS = 45
PROOF_SEED = 1

proof: $(BUILT) $(ENGINE) $(SERVICE)
	@$(TEST_ENV) PROOF_TELLS=yes PROOF_RUNS=$(PROOF_RUNS) \
		PROOF_SECONDS=$(PROOF_SECONDS) PROOF_SEED=$(PROOF_SEED) \
		$(BATS) tests/servers/proof.bats

MAN_PAGES = $(wildcard man/*.[1-8])
VECTORS = $(wildcard lib/bloomkey/vectors/*.tsv)
SPECS = lib/bloomkey/SPEC.md
VERIFY = scripts/verify-writer
completiondir = $(datadir)/bash-completion/completions
keydir = $(datadir)/bloomkey
vectordir = $(keydir)/vectors
pkgconfigdir = $(libdir)/pkgconfig

# $(call put,MODE,FOLDER,FILES): nothing when there are no files.
define put
$(if $(strip $(3)),$(INSTALL) -d "$(DESTDIR)$(strip $(2))"
	$(INSTALL) -m $(1) $(3) "$(DESTDIR)$(strip $(2))/")
endef

install: all
	$(call put,755,$(bindir),$(BUILD)/bloomctl)
	$(call put,644,$(libdir),$(LIBKEY))
	$(call put,755,$(libdir),$(BUILD)/$(SO_FILE))
	ln -sf $(SO_FILE) "$(DESTDIR)$(libdir)/$(SONAME)"
	ln -sf $(SONAME) "$(DESTDIR)$(libdir)/$(SO)"
	$(call put,644,$(pkgconfigdir),$(BUILD)/bloomkey.pc)
	$(call put,644,$(includedir),lib/bloomkey/bloomkey.h)
	$(call put,644,$(mandir)/man1,$(filter %.1,$(MAN_PAGES)))
	$(call put,644,$(mandir)/man3,$(filter %.3,$(MAN_PAGES)))
	$(call put,644,$(mandir)/man5,$(filter %.5,$(MAN_PAGES)))
	$(call put,644,$(mandir)/man7,$(filter %.7,$(MAN_PAGES)))
	$(call put,644,$(docdir),$(SPECS))
	$(call put,755,$(keydir),$(VERIFY))
	$(call put,644,$(vectordir),$(VECTORS))
	$(INSTALL) -d "$(DESTDIR)$(completiondir)"
	$(INSTALL) -m 644 $(BUILD)/bloomctl.bash \
		"$(DESTDIR)$(completiondir)/bloomctl"

uninstall:
	cd "$(DESTDIR)/" && rm -f $(patsubst %,".%", \
		$(bindir)/bloomctl $(completiondir)/bloomctl \
		$(addprefix $(libdir)/,libbloomkey.a $(SO_FILE) $(SONAME) $(SO)) \
		$(pkgconfigdir)/bloomkey.pc $(includedir)/bloomkey.h \
		$(foreach page,$(notdir $(MAN_PAGES)),\
			$(mandir)/man$(lastword $(subst ., ,$(page)))/$(page)) \
		$(addprefix $(docdir)/,$(notdir $(SPECS))) \
		$(addprefix $(keydir)/,$(notdir $(VERIFY))) \
		$(addprefix $(vectordir)/,$(notdir $(VECTORS))))

# Folders are listed and git is not asked, so that an unpacked tarball can
# make the same one again.  The time of every file is SOURCE_DATE_EPOCH, that
# of the last commit, or in an unpacked tarball that of its files.
DIST_FILES = COPYING README.md Makefile configure configure.ac config.mk.in \
	.ci .clang-format .clang-tidy .editorconfig .gitignore \
	cmd lib man scripts tests
DIST_VERSION = $(shell sed -n \
	's/^AC_INIT.\[bloomctl\], \[\([0-9.]*\)\].*/\1/p' configure.ac)
DIST = bloomctl-$(DIST_VERSION)

dist: configure
	@test -n "$(DIST_VERSION)"
	@time=$${SOURCE_DATE_EPOCH:-$$(test -e .git && \
		git log -1 --format=%ct 2>/dev/null || \
		stat -c %Y configure.ac)}; \
	tar --format=ustar --sort=name --mtime="@$$time" --owner=0 --group=0 \
		--numeric-owner --mode=u+rwX,go+rX,go-w --exclude='*~' \
		--exclude='*.orig' --exclude='*.rej' --exclude='.*.sw?' \
		--exclude=__pycache__ \
		--transform='flags=rSH;s,^,$(DIST)/,' \
		-cf $(DIST).tar $(DIST_FILES) || { rm -f $(DIST).tar; exit 1; }
	gzip -9nf $(DIST).tar

clean:
	rm -rf build

distclean: clean
	rm -rf autom4te.cache
	rm -f config.mk config.log config.status configure~ bloomctl-*.tar.gz

help:
	@echo 'all            build/VARIANT/bloomctl, libbloomkey and completion'
	@echo 'install        to prefix (/usr/local), below DESTDIR; uninstall undoes it'
	@echo 'check          all tests that need no server; TESTS="FILE..." runs a few'
	@echo 'check-servers  the tests that start servers'
	@echo 'check-long     fuzzing (FUZZ_SECONDS each), all compilers, random rows'
	@echo '               (DIFFERENTIAL_ROWS), proof, benchmarks'
	@echo 'coverage       which error paths of rows and store no test reaches'
	@echo 'bench          the benchmarks'
	@echo 'proof          that nothing committed is missing: PROOF_RUNS runs of'
	@echo '               PROOF_SECONDS, drawn from PROOF_SEED on'
	@echo 'dist           a tarball of the sources, with configure'
	@echo 'clean          removes build; distclean also what configure made'
	@echo
	@echo 'VARIANT=plain|asan|tsan chooses the sanitizers of one run;'
	@echo './configure --enable-sanitizers[=thread] makes them the default.'

-include $(wildcard $(BUILD)/*.d $(BUILD)/cmd/*.d $(BUILD)/lib/*/*.d \
	$(BUILD)/tests/*/*.d $(BUILD)/tests/*/*/*.d)
