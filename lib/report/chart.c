/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/report/table.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/base/num.h"

#define BAR_MAX 40

int chart_histogram(const double *values, size_t n, unsigned bins,
		    const char *unit, struct buf *out)
{
	uint64_t *counts = calloc(bins, sizeof(*counts));
	double least = n > 0 ? values[0] : 0;
	double most = least;
	double step;
	uint64_t peak = 1;
	int rc = counts == NULL ? -1 : 0;

	for (size_t i = 0; i < n; i++) {
		least = values[i] < least ? values[i] : least;
		most = values[i] > most ? values[i] : most;
	}
	/* One bar is enough for values that do not differ. */
	if (most <= least)
		bins = 1;
	step = (most - least) / bins;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		unsigned bin =
			step > 0 ? (unsigned)((values[i] - least) / step) : 0;

		bin = bin < bins ? bin : bins - 1;
		if (++counts[bin] > peak)
			peak = counts[bin];
	}
	for (unsigned b = 0; rc == 0 && b < bins; b++) {
		char from[NUM_TEXT_MAX];
		char to[NUM_TEXT_MAX];
		unsigned bar =
			(unsigned)((counts[b] * BAR_MAX + peak - 1) / peak);

		rc = buf_addf(out, "%7s - %7s %s  ",
			      num_fixed(least + step * b, 2, from),
			      num_fixed(least + step * (b + 1), 2, to), unit);
		for (unsigned i = 0; rc == 0 && i < bar; i++)
			rc = buf_adds(out, "#");
		if (rc == 0)
			rc = buf_addf(out, "%s%" PRIu64 "\n",
				      bar > 0 ? " " : "", counts[b]);
	}
	free(counts);
	return rc;
}
