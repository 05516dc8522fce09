/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/pg/hosts.h"
#include "tests/unit/unit.h"

static void init(struct hosts *hosts, const char *host, const char *hostaddr,
		 const char *port)
{
	struct error err = ERROR_INIT;

	REQUIRE(hosts_init(hosts, host, hostaddr, port, &err) == 0);
}

static int drop(struct hosts *hosts, const char *host, const char *address,
		const char *port)
{
	const struct host gone = {
		.host = host, .port = port, .address = address};

	return hosts_drop(hosts, &gone);
}

static void one_of_several(void)
{
	struct hosts hosts;

	init(&hosts, "a,b,c", NULL, "1,2,3");
	CHECK(drop(&hosts, "b", "192.0.2.7", "2") == 1);
	CHECK_STR(hosts.host, "a,c");
	CHECK_STR(hosts.port, "1,3");
	CHECK(hosts.hostaddr == NULL);
	CHECK(drop(&hosts, "c", "", "3") == 1);
	CHECK_STR(hosts.host, "a");
	CHECK_STR(hosts.port, "1");
	hosts_release(&hosts);
	init(&hosts, "a,b", NULL, NULL);
	CHECK(drop(&hosts, "a", NULL, "5432") == 1);
	CHECK_STR(hosts.host, "b");
	hosts_release(&hosts);
}

static void one_port_is_for_all(void)
{
	struct hosts hosts;

	init(&hosts, "a,b,c", NULL, "7");
	CHECK(drop(&hosts, "a", NULL, "7") == 1);
	CHECK_STR(hosts.host, "b,c");
	CHECK_STR(hosts.port, "7");
	hosts_release(&hosts);
}

static void what_is_the_same_else_is_told_by_the_rest(void)
{
	struct hosts hosts;

	init(&hosts, "a,a,a", "::1,::2,::2", "7,7,8");
	CHECK(drop(&hosts, "a", "::2", "8") == 1);
	CHECK_STR(hosts.hostaddr, "::1,::2");
	CHECK_STR(hosts.port, "7,7");
	CHECK(drop(&hosts, "a", "::2", "7") == 1);
	CHECK_STR(hosts.host, "a");
	CHECK_STR(hosts.hostaddr, "::1");
	CHECK_STR(hosts.port, "7");
	hosts_release(&hosts);
	/* libpq calls a server by its address where it has no name. */
	init(&hosts, NULL, "::1,::2", NULL);
	CHECK(drop(&hosts, "::2", "::2", "5432") == 1);
	CHECK_STR(hosts.hostaddr, "::1");
	CHECK(hosts.host == NULL);
	hosts_release(&hosts);
}

static void nothing_changes(void)
{
	struct hosts hosts;

	/* The only one. */
	init(&hosts, "a", NULL, NULL);
	CHECK(drop(&hosts, "a", NULL, "5432") == 0);
	CHECK_STR(hosts.host, "a");
	hosts_release(&hosts);
	/* None of them. */
	init(&hosts, "aa,b", NULL, "1,2");
	CHECK(drop(&hosts, "a", NULL, "1") == 0);
	CHECK(drop(&hosts, "aaa", NULL, "1") == 0);
	CHECK(drop(&hosts, "b", NULL, "1") == 0);
	CHECK_STR(hosts.host, "aa,b");
	CHECK_STR(hosts.port, "1,2");
	hosts_release(&hosts);
	init(&hosts, NULL, NULL, NULL);
	CHECK(drop(&hosts, "/run", NULL, "5432") == 0);
	hosts_release(&hosts);
}

int main(void)
{
	UNIT(one_of_several, "hosts: one of several is taken out");
	UNIT(one_port_is_for_all, "hosts: one port is for all that are left");
	UNIT(what_is_the_same_else_is_told_by_the_rest,
	     "hosts: name, address and port tell them apart");
	UNIT(nothing_changes, "hosts: the last one stays, and so do others");
	return unit_end();
}
