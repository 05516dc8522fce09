-- SPDX-License-Identifier: BSD-2-Clause
--
-- bytes: the table `raw` of (id, a), of texts that are hardly UTF-8, for a
-- database whose encoding takes any byte.

CREATE TABLE raw (id serial, a text);
CREATE FUNCTION add(bytea) RETURNS void LANGUAGE sql AS $$
	INSERT INTO raw (a) VALUES (convert_from($1, getdatabaseencoding()));
$$;

-- What PostgreSQL takes for UTF-8.  That this database has no such character
-- is no objection.
CREATE FUNCTION is_utf8(bytea) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
	PERFORM convert_from($1, 'UTF8');
	RETURN true;
EXCEPTION
	WHEN untranslatable_character THEN RETURN true;
	WHEN character_not_in_repertoire THEN RETURN false;
END
$$;

CREATE FUNCTION random_bytes() RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
	alphabet bytea := '\x610a0d095c222c7f808f909fa0bfc2c3e0e2edeff0f4f5ff';
	made bytea := '';
BEGIN
	FOR i IN 1 .. 1 + floor(random() * 6) LOOP
		made := made || substr(alphabet,
			1 + floor(random() * length(alphabet))::int, 1);
	END LOOP;
	RETURN made;
END
$$;

SELECT setseed(0.5), add(v) FROM (VALUES
	-- the edges of one to four bytes, of surrogates and of all
	('\x7f'::bytea), ('\xc280'), ('\xdfbf'), ('\xe0a080'), ('\xed9fbf'),
	('\xee8080'), ('\xefbfbd'), ('\xefbfbf'), ('\xf0908080'),
	('\xf48fbfbf'), ('\xc080'), ('\xc1bf'), ('\xe08080'), ('\xe09fbf'),
	('\xeda080'), ('\xedbfbf'), ('\xf0808080'), ('\xf08fbfbf'),
	('\xf4908080'), ('\xf5808080'), ('\xf888808080'), ('\xfffe'),
	-- cut off, or one too many
	('\xc3'), ('\xe282'), ('\xf09f98'), ('\xc3a9a9'), ('\xc328'),
	('\xe2285c'), ('\xe28222'), ('\xf09f980a'), ('\x61c3'), ('\xc30d'),
	('\xefbbbf'), ('\xefbb')) AS of (v) \g /dev/null
SELECT add(set_byte('\x61', 0, c)), add(set_byte('\x612062', 1, c))
	FROM generate_series(1, 255) AS byte (c) \g /dev/null
SELECT add(random_bytes()) FROM generate_series(1, 3000) \g /dev/null
