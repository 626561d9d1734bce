-- What Usher knows of the database's clock, and whose session a lease belongs to.

-- One row. Processes compare the database's clock with their own monotonic clocks (platform/clock-watch.ts).
CREATE TABLE clock (
  only_row    boolean        PRIMARY KEY DEFAULT true CHECK (only_row),
  -- All steps that processes have seen, added up: forward is positive. The clock without them runs evenly.
  shift_ms    bigint         NOT NULL DEFAULT 0,
  -- The database's clock when a process last looked, to within ten seconds. A start compares it with now.
  seen_at     timestamptz(3) NOT NULL,
  -- Nothing is deleted before that: the clock was stepped, or nobody had looked at it for long.
  doubt_until timestamptz(3)
) WITH (fillfactor = 50);
-- The last turn is the newest thing that an older version has written with a time.
INSERT INTO clock (seen_at) SELECT coalesce(max(turned_at), now()) FROM accounts;

CREATE FUNCTION clock_shift() RETURNS bigint LANGUAGE sql STABLE AS $$ SELECT shift_ms FROM clock WHERE only_row $$;
CREATE FUNCTION clock_is_in_doubt() RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce(doubt_until > clock_timestamp(), false) FROM clock WHERE only_row
$$;

-- The steps that the times of an account's board, and of a destination's delayed deliveries, include. Where it is not the
-- clock's, they are moved by the difference (routing/move-times.ts, webhooks/dispatcher/move-due-times.ts).
ALTER TABLE accounts ADD COLUMN clock_shift_ms bigint NOT NULL DEFAULT 0;
ALTER TABLE accounts ALTER COLUMN clock_shift_ms SET DEFAULT clock_shift();
ALTER TABLE destinations ADD COLUMN clock_shift_ms bigint NOT NULL DEFAULT 0;
ALTER TABLE destinations ALTER COLUMN clock_shift_ms SET DEFAULT clock_shift();

-- A process has one session of the database for as long as it lives, and in it an advisory lock by the number of the
-- session. The lock ends with the session, so everybody can tell that the owner of a lease is gone. Null: it cannot be told.
CREATE SEQUENCE session_numbers AS integer CYCLE;
ALTER TABLE destinations
  ADD COLUMN owner_session integer,
  -- The epoch that `owner_session` was written for: a version of Usher that does not know of sessions raises the epoch alone.
  ADD COLUMN session_epoch bigint;
CREATE INDEX destinations_owned ON destinations (owner_session) WHERE owner_session IS NOT NULL;
