/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/bloomkey/keyspec.h"

#define BAD_KEY(key, part) BAD(HEAD "filter = f\nkey = " key "\n", 6, part)

/* The key that values a, b, c make of a template. */
static void check_key(const char *file, int at, const char *template,
		      const char *key)
{
	const void *values[] = {"a", "b", "c"};
	const size_t lens[] = {1, 1, 1};
	struct bloomkey_result result;
	char text[512], out[256];
	struct outcome o;
	int rc;

	(void)snprintf(text, sizeof(text), HEAD "filter = f\nkey = %s\n",
		       template);
	o = parse_bytes(text, strlen(text));
	if (o.code != BLOOMKEY_OK) {
		unit_fail(file, at, template);
		printf("#   line %u: %s\n", o.err.line, o.err.text);
		return;
	}
	rc = bloomkey_derive(o.spec, values, lens, out, sizeof(out), &result);
	if (rc != BLOOMKEY_OK || result.len != strlen(key) ||
	    memcmp(out, key, result.len) != 0)
		unit_fail(file, at, template);
	bloomkey_free(o.spec);
}

#define KEY(template, key) check_key(__FILE__, __LINE__, template, key)

static void literal_text(void)
{
	KEY("{x}", "a");
	KEY("p:{x}", "p:a");
	KEY("{x}:s", "a:s");
	KEY("card:{x}:{y}", "card:a:b");
	KEY("{x}:{y}:{z}", "a:b:c");
	KEY("{y}-:-{x}", "a-:-b");
	KEY("\"  {x} \t \"", "  a \t ");
	KEY("\xc3\xa9{x}\xe2\x82\xac", "\xc3\xa9"
				       "a\xe2\x82\xac");
	KEY("# {x}", "# a");
}

static void braces(void)
{
	KEY("{{{x}}}", "{a}");
	KEY("{{}}{x}", "{}a");
	KEY("{{{{{x}", "{{a");
	KEY("{x}}}}}", "a}}");
	KEY("{{x}}:{x}", "{x}:a");
	KEY("{x}}}:{{{y}", "a}:{b");
	BAD_KEY("{x}}", "key: lone '}'");
	BAD_KEY("}{x}", "key: lone '}'");
	BAD_KEY("{x}:}", "key: lone '}'");
	KEY("{{{x}", "{a");
	BAD_KEY("{x}:{", "key: lone '{'");
	BAD_KEY("{x", "key: lone '{'");
	BAD_KEY("{x:{y}", "key: lone '{'");
	BAD_KEY("{{{", "key: lone '{'");
	BAD_KEY("{x}}}}", "key: lone '}'");
}

static void field_names(void)
{
	BAD_KEY("{}", "key: '{}' holds no name");
	BAD_KEY("{ x }", "key: '{ x }' holds no name");
	BAD_KEY("{x:y}", "key: '{x:y}' holds no name");
	BAD_KEY("{\xc3\xa9}", "key: '{\\xc3\\xa9}' holds no name");
	BAD_KEY("abc", "key: names no field");
	BAD_KEY("{{x}}", "key: names no field");
	BAD_KEY("{x}:{x}", "key: '{x}' stands there twice");
	BAD_KEY("{x}:{y}:{x}", "key: '{x}' stands there twice");
	KEY("{x}:{X}", "a:b");
	KEY("{name}:{bucket}:{fp}", "a:b:c");
}

static void separation(void)
{
	BAD_KEY("{x}{y}", "no delimiter ':' between '{x}' and '{y}'");
	BAD_KEY("{x}-{y}", "no delimiter ':' between '{x}' and '{y}'");
	BAD_KEY("p:{x}-{y}:", "no delimiter ':' between '{x}' and '{y}'");
	BAD_KEY("{x}:{y}|{z}", "no delimiter ':' between '{y}' and '{z}'");
	BAD(HEAD "key = {x}:{y}\ndelimiter = |\nfilter = f\n", 5,
	    "no delimiter '|' between");
	/* A brace that only the escape of a brace holds is one. */
	GOOD(HEAD "key = {x}}}{y}\ndelimiter = }\nfilter = f\n");
	BAD(HEAD "key = {x}:{y}\ndelimiter = }\nfilter = f\n", 5,
	    "no delimiter '}' between");
}

static void many_fields(void)
{
	static char text[65536] = HEAD "filter = f\nkey = ";
	char part[32];
	struct bloomkey_spec *spec;
	size_t used = strlen(text);

	for (unsigned i = 0; i < 3000; i++)
		used += (size_t)sprintf(text + used, "%s{%u}", i ? ":" : "", i);
	spec = parse_good(text);
	CHECK_U64(bloomkey_fields(spec), 3000);
	for (unsigned i = 0; i < 3000; i += 111) {
		(void)snprintf(part, sizeof(part), "%u", i);
		CHECK_STR(bloomkey_field_name(spec, i), part);
	}
	bloomkey_free(spec);
}

int main(void)
{
	UNIT(literal_text, "template: literal text goes in byte for byte");
	UNIT(braces, "template: braces are doubled, a lone one is refused");
	UNIT(field_names, "template: each field is named once, and one is");
	UNIT(separation, "template: a delimiter stands between two fields");
	UNIT(many_fields, "template: thousands of fields are legal");
	return unit_end();
}
