-- SPDX-License-Identifier: BSD-2-Clause
--
-- odd: the tables `odd` and `big` of (id, a, b), of values that a format could
-- get wrong; of one version of PostgreSQL the same on every run.

SELECT setseed(0.5) \g /dev/null
CREATE TABLE literal (v text, n serial);
INSERT INTO literal VALUES (NULL), (''),
	-- quotes
	(''''), (''''''), ('"'), ('""'), ('"""'), ('a"b'), ('"a"'), ('a""b'),
	('"a'), ('a"'), (' "a"'), ('"a" '), ('"",""'),
	-- newlines and tabs
	(E'\n'), (E'\r'), (E'\r\n'), (E'\n\r'), (E'\n\n'), (E'\r\r'),
	(E'a\nb'), (E'a\rb'), (E'a\r\nb'), (E'a\n'), (E'a\r'), (E'a\r\n'),
	(E'\na'), (E'\ra'), (E'\t'), (E'\t\t'), (E'a\tb'), (E'\ta'), (E'a\t'),
	-- backslashes
	('\'), ('\\'), ('\\\'), ('a\'), ('a\\'), ('\a'), ('\n'), ('\r'),
	('\t'), ('\b'), ('\f'), ('\v'), ('\N'), ('\\N'), ('a\N'), ('\Na'),
	('\x41'), ('\x4'), ('\x'), ('\101'), ('\0'), ('\7'), ('\377'), ('\,'),
	('\"'), ('"\"'), (E'\\\n'), (E'\\\r'), (E'\\\r\n'), (E'\\\t'),
	-- the end mark
	('\.'), ('\\.'), ('a\.'), ('\.a'), (E'\\.\n'), (E'a\n\\.\nb'),
	-- edges
	(' '), ('  '), (' a'), ('a '), (' a '), (E' \t '), (E'a \n'),
	-- separators
	(','), (',,'), ('a,b'), (';'), ('a;b'), ('|'), ('a|b'), (':'), ('a:b'),
	-- what looks like NULL
	('NULL'), ('null'), ('Null'), ('"NULL"'), ('NULL '), ('nil'), ('NIL'),
	('"nil"'), ('N'),
	-- U+FEFF
	(E'\uFEFF'), (E'\uFEFFa'), (E'\uFEFF"a"'), (E'a\uFEFF'),
	-- two, three and four bytes, and what combines
	(E'\u0080'), (E'\u0085'), (E'\u00A0'), (E'\u00E9'), (E'e\u0301'),
	(E'\u07FF'), (E'\u0800'), (E'\u2028'), (E'\u20AC'), (E'\u3000'),
	(E'\uD7FF'), (E'\uE000'), (E'\uFFFF'), (E'\U00010000'),
	(E'\U0001F600'), (E'\U0001F468\u200D\U0001F469'), (E'\U0010FFFF'),
	-- what means something elsewhere
	('#'), ('# a'), ('--'), ('=1+1'), ('0'), ('-'), ('+1'), ('{a}'), ('{{'),
	('%s'), ('$1'), ('k:'), ('!null');
INSERT INTO literal
	SELECT format(f, chr(c))
	FROM (SELECT generate_series(1, 31) UNION SELECT 127) AS control (c),
		(VALUES ('%s'), ('a%s'), ('%sa'), ('a%sb')) AS form (f)
	ORDER BY c, f;

CREATE FUNCTION pick(text[]) RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT $1[1 + floor(random() * cardinality($1))::int];
$$;
CREATE FUNCTION random_text() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	alphabet text[];
	made text := '';
BEGIN
	IF random() < 0.05 THEN
		RETURN NULL;
	END IF;
	alphabet := string_to_array(pick(ARRAY[
		E'a \n \r \t \\ " , .',
		'\ \ n t r b N . x 4 1 0 7 a',
		'" " '''' , ; | a',
		E'\n \r a',
		E'\uFEFF \u00E9 \u0301 \u20AC \U0001F600 a "',
		E'\x01 \x02 \x08 \x0b \x0c \x1b \x1f \x7f \\ a',
		'N U L n i l "'
	]), ' ') || ARRAY[' '];
	FOR i IN 1 .. floor(random() * 12) LOOP
		made := made || pick(alphabet);
	END LOOP;
	RETURN made;
END
$$;

CREATE TABLE odd (id serial, a text, b text);
INSERT INTO odd (a, b) SELECT v, 'b' FROM literal ORDER BY n;
INSERT INTO odd (a, b) SELECT 'a', v FROM literal ORDER BY n;
INSERT INTO odd (a, b)
	SELECT x.v, y.v FROM literal AS x, literal AS y
	WHERE (x.n + y.n) % 11 = 0 OR x.n = y.n OR x.n < 3 OR y.n < 3
	ORDER BY x.n, y.n;
INSERT INTO odd (a, b) SELECT random_text(), random_text()
	FROM generate_series(1, 5000);

-- Long ones, and those about a value's and a key's 65,535 bytes.
CREATE TABLE big (id serial, a text, b text);
CREATE TABLE long (v text);
INSERT INTO long
	SELECT repeat(v, 60000 / octet_length(v)) FROM (VALUES
		('x'), ('"'), ('\'), (E'\n'), (E'\r'), (E'\r\n'), (E'\t'),
		(' '), (','), (',"'), ('\N'), (E'\\.\n'), (E'\uFEFF'),
		(E'\u00E9'), (E'\u20AC'), (E'\U0001F600')) AS of (v);
INSERT INTO long
	SELECT 'xyz' || repeat(v, n - 3)
	FROM (VALUES ('x'), ('"'), ('\'), (E'\n')) AS of (v),
		generate_series(65531, 65537) AS size (n);
INSERT INTO long
	SELECT repeat('x', n) || repeat(E'\u00E9', 32766)
	FROM generate_series(0, 5) AS size (n);
INSERT INTO big (a, b) SELECT v, 'b' FROM long;
INSERT INTO big (a, b) SELECT 'a', v FROM long;
