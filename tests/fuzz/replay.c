/* SPDX-License-Identifier: BSD-2-Clause
 *
 * replay: gives each file named on the command line to a fuzz target, with
 * any compiler.  One line of TAP for the whole target: it passes if nothing
 * crashed.  The file at hand stands on stderr, for when something does.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The whole file in *out, owned by the caller, exactly as long as it is, so
 * that a read past its end is seen; -1 if it cannot be read. */
static int slurp(const char *path, uint8_t **out, size_t *len)
{
	FILE *in = fopen(path, "rb");
	uint8_t *data = NULL;
	long size = -1;

	if (in == NULL)
		return -1;
	if (fseek(in, 0, SEEK_END) == 0)
		size = ftell(in);
	if (size >= 0 && fseek(in, 0, SEEK_SET) == 0)
		data = malloc(size > 0 ? (size_t)size : 1);
	if (data != NULL && fread(data, 1, (size_t)size, in) != (size_t)size) {
		free(data);
		data = NULL;
	}
	fclose(in);
	if (data == NULL)
		return -1;
	*out = data;
	*len = (size_t)size;
	return 0;
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');
	const char *name = slash != NULL ? slash + 1 : argv[0];
	int i;

	for (i = 1; i < argc; i++) {
		uint8_t *data;
		size_t len;

		fprintf(stderr, "# %s\n", argv[i]);
		if (slurp(argv[i], &data, &len) != 0) {
			printf("not ok 1 - %s: '%s' cannot be read\n1..1\n",
			       name, argv[i]);
			return 1;
		}
		LLVMFuzzerTestOneInput(data, len);
		free(data);
	}
	printf("%sok 1 - %s: %d inputs do no harm\n1..1\n",
	       argc > 1 ? "" : "not ", name, argc - 1);
	return argc > 1 ? 0 : 1;
}
