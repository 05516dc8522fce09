/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

void bloomkey_free(struct bloomkey_spec *spec)
{
	if (spec == NULL)
		return;
	for (size_t i = 0; i < spec->nfields; i++)
		bk_hmac_free(spec->fields[i].hmac);
	free(spec->fingerprint_text);
	free(spec->literals);
	free(spec->fields);
	free(spec->text);
	free(spec);
}

const char *bloomkey_name(const struct bloomkey_spec *spec)
{
	return spec->name;
}

uint32_t bloomkey_buckets(const struct bloomkey_spec *spec)
{
	return spec->buckets;
}

uint64_t bloomkey_seed(const struct bloomkey_spec *spec)
{
	return spec->seed;
}

const char *bloomkey_fingerprint(const struct bloomkey_spec *spec)
{
	return spec->fingerprint;
}

const char *bloomkey_fingerprint_text(const struct bloomkey_spec *spec)
{
	return spec->fingerprint_text;
}

size_t bloomkey_fields(const struct bloomkey_spec *spec)
{
	return spec->nfields;
}

const char *bloomkey_field_name(const struct bloomkey_spec *spec, size_t i)
{
	return i < spec->nfields ? spec->fields[i].name : NULL;
}

const char *bloomkey_field_column(const struct bloomkey_spec *spec, size_t i)
{
	return i < spec->nfields ? spec->fields[i].column : NULL;
}

const char *bloomkey_field_check(const struct bloomkey_spec *spec, size_t i)
{
	if (i >= spec->nfields || !spec->fields[i].rules.keyed)
		return NULL;
	return spec->fields[i].check;
}

size_t bloomkey_sentinel(const struct bloomkey_spec *spec, const void **data)
{
	switch (spec->sentinel_kind) {
	case BK_SENTINEL_DEFAULT:
		*data = spec->default_sentinel;
		return strlen(spec->default_sentinel);
	case BK_SENTINEL_BYTES:
		*data = spec->sentinel.data;
		return spec->sentinel.len;
	case BK_SENTINEL_NONE:
		break;
	}
	*data = NULL;
	return 0;
}
