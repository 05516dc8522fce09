-- SPDX-License-Identifier: BSD-2-Clause
--
-- cards: as many rows as the variable `rows` says, of cards that are blocked
-- for all merchants (scope `global`) or for one; every tenth is not in force.

CREATE TABLE cards (
	entity_id text NOT NULL,
	scope text NOT NULL,
	status smallint NOT NULL,
	created_at timestamptz NOT NULL DEFAULT now(),
	updated_at timestamptz NOT NULL DEFAULT now(),
	expires_at timestamptz,
	PRIMARY KEY (entity_id, scope)
);
INSERT INTO cards
	SELECT 'c' || to_char(i, 'FM0000000000'),
		CASE WHEN i % 4 = 0 THEN 'merchant:' || i % 1000
			ELSE 'global' END,
		CASE WHEN i % 10 = 0 THEN 0 ELSE 1 END,
		'2026-01-01'::timestamptz + i * interval '1 second',
		'2026-01-01'::timestamptz + i * interval '2 seconds'
	FROM generate_series(1, :rows) AS g (i);
CREATE INDEX cards_updated_at ON cards (updated_at);
ANALYZE cards;
