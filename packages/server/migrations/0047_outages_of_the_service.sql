-- additive
-- Time in which no process of Usher reached the database. In it nobody could renew presence or answer an offer, so it does not count
-- for leases, grace periods and offers (D5.15).

-- All such times added up. An outage lasts from seen_at, which processes now keep within seconds, until a process is there again.
ALTER TABLE clock ADD COLUMN outage_ms bigint NOT NULL DEFAULT 0;

CREATE FUNCTION clock_outage() RETURNS bigint LANGUAGE sql STABLE AS $$ SELECT outage_ms FROM clock WHERE only_row $$;

-- The outages that the leases and offers of an account's board include: see clock_shift_ms in 0019. Both defaults of the column are
-- constant for the rows that are there, so no row is written.
ALTER TABLE accounts ADD COLUMN clock_outage_ms bigint NOT NULL DEFAULT 0;
ALTER TABLE accounts ALTER COLUMN clock_outage_ms SET DEFAULT clock_outage();
