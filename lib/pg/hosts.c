/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/pg/hosts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int copy(const char *list, char **out, struct error *err)
{
	if (list == NULL || list[0] == '\0')
		return 0;
	*out = strdup(list);
	return *out != NULL ? 0 : error_nomem(err);
}

int hosts_init(struct hosts *hosts, const char *host, const char *hostaddr,
	       const char *port, struct error *err)
{
	memset(hosts, 0, sizeof(*hosts));
	if (copy(host, &hosts->host, err) == 0 &&
	    copy(hostaddr, &hosts->hostaddr, err) == 0 &&
	    copy(port, &hosts->port, err) == 0)
		return 0;
	hosts_release(hosts);
	return -1;
}

static size_t count(const char *list)
{
	size_t n = list != NULL;

	for (; list != NULL && *list != '\0'; list++)
		n += *list == ',';
	return n;
}

/* Its i-th item, or NULL behind the last. */
static char *item(char *list, size_t i)
{
	for (; list != NULL && i > 0; i--) {
		list = strchr(list, ',');
		if (list != NULL)
			list++;
	}
	return list;
}

/* Whether the i-th item is that; a list that is not there does not object. */
static bool may_be(char *list, size_t i, const char *text)
{
	const char *at = item(list, i);
	size_t len;

	if (at == NULL)
		return list == NULL;
	len = strcspn(at, ",");
	return text != NULL && strlen(text) == len &&
	       memcmp(at, text, len) == 0;
}

static void cut(char *list, size_t i)
{
	char *at = item(list, i);
	char *next = item(list, i + 1);

	if (at == NULL)
		return;
	if (next != NULL)
		memmove(at, next, strlen(next) + 1);
	else if (at > list)
		at[-1] = '\0';
}

int hosts_drop(struct hosts *hosts, const struct host *gone)
{
	size_t ports = count(hosts->port);
	size_t n = count(hosts->host);

	if (hosts->hostaddr != NULL)
		n = count(hosts->hostaddr);
	for (size_t i = 0; n > 1 && i < n; i++) {
		/* libpq calls a server that has no name by its address. */
		if (!may_be(hosts->host, i, gone->host) ||
		    !may_be(hosts->hostaddr, i, gone->address) ||
		    !may_be(hosts->port, ports > 1 ? i : 0, gone->port))
			continue;
		cut(hosts->host, i);
		cut(hosts->hostaddr, i);
		if (ports > 1)
			cut(hosts->port, i);
		return 1;
	}
	return 0;
}

void hosts_release(struct hosts *hosts)
{
	free(hosts->host);
	free(hosts->hostaddr);
	free(hosts->port);
	memset(hosts, 0, sizeof(*hosts));
}
