/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/mem.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/base/num.h"

/* The first size - 1 bytes of a file of the kernel's; -1 if there is none. */
static int slurp(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, out, size - 1);
	(void)close(fd);
	if (n < 0)
		return -1;
	out[n] = '\0';
	return 0;
}

/* The number behind name in text; UINT64_MAX if there is none. */
static uint64_t number_after(const char *text, const char *name)
{
	char digits[24];
	const char *at = strstr(text, name);
	uint64_t n;
	size_t len;

	if (at == NULL)
		return UINT64_MAX;
	at += strlen(name);
	at += strspn(at, " \t");
	len = strspn(at, "0123456789");
	if (len == 0 || len >= sizeof(digits))
		return UINT64_MAX;
	memcpy(digits, at, len);
	digits[len] = '\0';
	return num_u64(digits, &n) == 0 ? n : UINT64_MAX;
}

/*
 * A number of a control group's file, behind `label` or the only one;
 * UINT64_MAX also for "max".
 */
static uint64_t group_number(const char *group, const char *name,
			     const char *label)
{
	char path[PATH_MAX];
	char text[4096];
	int n = snprintf(path, sizeof(path), "/sys/fs/cgroup%s/%s", group,
			 name);

	if (n < 0 || (size_t)n >= sizeof(path) ||
	    slurp(path, text, sizeof(text)) != 0)
		return UINT64_MAX;
	return number_after(text, label);
}

/*
 * What one group leaves.  Cached files are counted as used, and given back
 * when there is need: a source that was read does not stand in the way.
 */
static uint64_t group_left(const char *group)
{
	uint64_t max = group_number(group, "memory.max", "");
	uint64_t now = group_number(group, "memory.current", "");
	uint64_t old = group_number(group, "memory.stat", "\ninactive_file");
	uint64_t hot = group_number(group, "memory.stat", "\nactive_file");

	if (max == UINT64_MAX || now == UINT64_MAX)
		return UINT64_MAX;
	if (old != UINT64_MAX && hot != UINT64_MAX)
		now = now > old + hot ? now - old - hot : 0;
	return max > now ? max - now : 0;
}

/* What the version 2 control group, or one above it, leaves. */
static uint64_t group_available(void)
{
	char text[PATH_MAX];
	char *group;
	char *cut;
	uint64_t least = UINT64_MAX;

	if (slurp("/proc/self/cgroup", text, sizeof(text)) != 0)
		return least;
	group = strstr(text, "0::/");
	if (group == NULL)
		return least;
	group += strlen("0::");
	group[strcspn(group, "\n")] = '\0';
	for (;;) {
		uint64_t left = group_left(group);

		least = left < least ? left : least;
		cut = strrchr(group, '/');
		if (cut == NULL || (cut == group && group[1] == '\0'))
			return least;
		cut[cut == group ? 1 : 0] = '\0';
	}
}

uint64_t mem_available(void)
{
	char text[4096];
	struct rlimit limit;
	uint64_t least = group_available();
	uint64_t n;

	if (slurp("/proc/meminfo", text, sizeof(text)) == 0) {
		n = number_after(text, "MemAvailable:");
		if (n < UINT64_MAX / 1024 && n * 1024 < least)
			least = n * 1024;
	}
	if (getrlimit(RLIMIT_AS, &limit) == 0 &&
	    limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < least)
		least = limit.rlim_cur;
	return least;
}
