/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/bucketfile.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "lib/base/hex.h"
#include "lib/base/sum.h"

enum {
#define BUCKETFILE_FIELD(name, offset, bytes) \
	AT_##name = (offset), BYTES_##name = (bytes),
#include "lib/store/bucketfile.def"
#undef BUCKETFILE_FIELD
};

/* So that a header can be replaced by one write of one sector. */
#define BUCKETFILE_FIELD(name, offset, bytes)                        \
	_Static_assert((offset) + (bytes) <= BUCKETFILE_HEADER_USED, \
		       "a field of the header beyond its first sector");
#include "lib/store/bucketfile.def"
#undef BUCKETFILE_FIELD

static const unsigned char magic[BYTES_magic] = "BLOOMBKT";

static void put(unsigned char *page, size_t at, size_t bytes, uint64_t value)
{
	for (size_t i = 0; i < bytes; i++)
		page[at + i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get(const unsigned char *page, size_t at, size_t bytes)
{
	uint64_t value = 0;

	for (size_t i = bytes; i > 0; i--)
		value = value << 8 | page[at + i - 1];
	return value;
}

#define PUT(name, value) put(page, AT_##name, BYTES_##name, (value))
#define GET(name)        get(page, AT_##name, BYTES_##name)

/* The sum of a page with its own sum taken for zero. */
static uint64_t header_sum(const unsigned char *page)
{
	unsigned char copy[BUCKETFILE_HEADER];

	memcpy(copy, page, sizeof(copy));
	memset(copy + AT_header_sum, 0, BYTES_header_sum);
	return sum_xxh64(copy, sizeof(copy));
}

void bucketfile_encode(const struct bucketfile *f,
		       unsigned char page[BUCKETFILE_HEADER])
{
	uint64_t error;

	memset(page, 0, BUCKETFILE_HEADER);
	memcpy(page + AT_magic, magic, sizeof(magic));
	PUT(version, BUCKETFILE_VERSION);
	PUT(header, BUCKETFILE_HEADER);
	PUT(state, (uint64_t)f->state);
	PUT(layout, f->layout);
	PUT(bucket, f->bucket);
	PUT(buckets, f->buckets);
	PUT(capacity, f->params.capacity);
	memcpy(&error, &f->params.error, sizeof(error));
	PUT(error, error);
	PUT(bits, f->params.bits);
	PUT(bytes, f->params.bytes);
	PUT(hashes, f->params.hashes);
	PUT(items, f->items);
	PUT(keys, f->keys);
	PUT(fence, f->fence);
	(void)hex_bytes(f->fingerprint, page + AT_fingerprint,
			BYTES_fingerprint);
	memcpy(page + AT_generation, f->generation, strlen(f->generation));
	PUT(bits_sum, f->bits_sum);
	memcpy(page + AT_seed, f->params.seed, BYTES_seed);
	PUT(horizon_relation, f->horizon.relation);
	PUT(horizon_timeline, f->horizon.timeline);
	PUT(horizon_read_at, (uint64_t)f->horizon.read_at);
	PUT(horizon_xid, f->horizon.xid);
	PUT(horizon_lsn, f->horizon.lsn);
	PUT(horizon_system, f->horizon.system);
	PUT(horizon_since, (uint64_t)f->horizon.since);
	PUT(header_sum, header_sum(page));
}

static bool is_zero(const unsigned char *page)
{
	return page[0] == 0 &&
	       memcmp(page, page + 1, BUCKETFILE_HEADER - 1) == 0;
}

static int check_frame(const unsigned char *page, struct error *err)
{
	if (is_zero(page))
		return error_set(err, ERROR_DATA,
				 "not finished: it has no header");
	if (memcmp(page + AT_magic, magic, sizeof(magic)) != 0)
		return error_set(err, ERROR_DATA,
				 "not a filter file of bloomctl");
	if (GET(version) != BUCKETFILE_VERSION)
		return error_set(err, ERROR_DATA,
				 "format version %" PRIu64
				 ": this bloomctl reads version %d",
				 GET(version), BUCKETFILE_VERSION);
	if (GET(header) != BUCKETFILE_HEADER ||
	    GET(header_sum) != header_sum(page))
		return error_set(err, ERROR_DATA,
				 "damaged: the header's checksum does not "
				 "match");
	return 0;
}

/* One of all zeros, or with all that it needs. */
static bool horizon_legal(const struct horizon *h)
{
	if (h->read_at == 0)
		return h->since == 0 && h->xid == 0 && h->lsn == 0 &&
		       h->timeline == 0 && h->relation == 0 && h->system == 0;
	return h->read_at > 0 && h->since >= 0 && (h->xid > 0 || h->since > 0);
}

/* The sum is right, so a value out of range was written so. */
static int check_values(const struct bucketfile *f, struct error *err)
{
	const struct filter_params *p = &f->params;
	const struct layout_ops *layout = layout_by_id(f->layout);
	const char *what = NULL;

	if (f->state < BUCKETFILE_BUILDING || f->state > BUCKETFILE_OPEN)
		what = "state";
	else if (f->buckets < 1 || f->buckets > 65536 ||
		 f->bucket >= f->buckets)
		what = "bucket";
	else if (p->capacity == 0)
		what = "capacity";
	else if (!(p->error > 0 && p->error < 1))
		what = "error";
	else if (p->bytes == 0 || p->bytes > (uint64_t)INT64_MAX / 8 ||
		 p->bits == 0 || p->bits > p->bytes * 8)
		what = "bits";
	else if (p->hashes < 1 || p->hashes > LAYOUT_HASHES_MAX)
		what = "hashes";
	else if (!names_id_valid(f->generation))
		what = "generation";
	else if (!horizon_legal(&f->horizon))
		what = "horizon";
	else if (layout != NULL && layout->seeded == layout_seed_none(p->seed))
		what = "seed";
	if (what == NULL)
		return 0;
	return error_set(err, ERROR_DATA, "its header has no legal %s", what);
}

int bucketfile_decode(const unsigned char page[BUCKETFILE_HEADER],
		      struct bucketfile *out, struct error *err)
{
	uint64_t error = GET(error);

	memset(out, 0, sizeof(*out));
	if (check_frame(page, err) != 0)
		return -1;
	out->state = (enum bucketfile_state)GET(state);
	out->layout = (uint32_t)GET(layout);
	out->bucket = (uint32_t)GET(bucket);
	out->buckets = (uint32_t)GET(buckets);
	out->params.capacity = GET(capacity);
	memcpy(&out->params.error, &error, sizeof(error));
	out->params.bits = GET(bits);
	out->params.bytes = GET(bytes);
	out->params.hashes = (uint32_t)GET(hashes);
	out->items = GET(items);
	out->keys = GET(keys);
	out->fence = GET(fence);
	(void)hex_text(page + AT_fingerprint, BYTES_fingerprint,
		       out->fingerprint);
	memcpy(out->generation, page + AT_generation, BYTES_generation - 1);
	out->bits_sum = GET(bits_sum);
	memcpy(out->params.seed, page + AT_seed, BYTES_seed);
	out->horizon.relation = (uint32_t)GET(horizon_relation);
	out->horizon.since = (int64_t)GET(horizon_since);
	out->horizon.timeline = (uint32_t)GET(horizon_timeline);
	out->horizon.read_at = (int64_t)GET(horizon_read_at);
	out->horizon.xid = GET(horizon_xid);
	out->horizon.lsn = GET(horizon_lsn);
	out->horizon.system = GET(horizon_system);
	if (check_values(out, err) != 0) {
		memset(out, 0, sizeof(*out));
		return -1;
	}
	return 0;
}

int bucketfile_match(const struct bucketfile *f, const struct bucketfile *want,
		     struct error *err)
{
	const struct filter_params *p = &f->params;
	const struct filter_params *q = &want->params;
	uint64_t is;
	uint64_t shall;

	if (strcmp(f->fingerprint, want->fingerprint) != 0)
		return error_set(err, ERROR_DATA,
				 "of another keyspec: fingerprint %.8s and "
				 "not %.8s",
				 f->fingerprint, want->fingerprint);
	if (strcmp(f->generation, want->generation) != 0)
		return error_set(err, ERROR_DATA, "of another generation: %s",
				 f->generation);
	if (f->bucket != want->bucket || f->buckets != want->buckets)
		return error_set(err, ERROR_DATA,
				 "of another bucket: %" PRIu32 " of %" PRIu32,
				 f->bucket, f->buckets);
	if (f->layout != want->layout)
		return error_set(err, ERROR_DATA,
				 "of another engine: layout %" PRIu32
				 " and not %" PRIu32,
				 f->layout, want->layout);
	/* Bit by bit, so that no rounding is taken for equal. */
	memcpy(&is, &p->error, sizeof(is));
	memcpy(&shall, &q->error, sizeof(shall));
	if (is != shall || p->capacity != q->capacity || p->bits != q->bits ||
	    p->bytes != q->bytes || p->hashes != q->hashes)
		return error_set(err, ERROR_DATA,
				 "of another size than its manifest says");
	if (memcmp(p->seed, q->seed, sizeof(p->seed)) != 0)
		return error_set(err, ERROR_DATA,
				 "of another seed than its manifest says");
	if (f->state == BUCKETFILE_BUILDING)
		return error_set(err, ERROR_DATA, "not finished");
	return 0;
}
