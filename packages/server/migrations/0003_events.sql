-- Everything that has happened, as it was told: append-only, a partition a day (UTC), dropped by the day. `payload` is json,
-- not jsonb, so that it is sent with its fields as they were written. No foreign keys: an event outlives what it is about,
-- and inserting it is on every hot path. `seq` is given when a row is inserted, not when it is committed.

CREATE TABLE events (
  account_id    uuid           NOT NULL,
  seq           bigint         GENERATED ALWAYS AS IDENTITY,
  id            uuid           NOT NULL,
  type          text           NOT NULL,
  site_id       uuid,
  ticket_id     uuid,
  request_id    uuid,
  engagement_id uuid,
  visitor_id    uuid,
  operator_id   uuid,
  occurred_at   timestamptz(3) NOT NULL,
  payload       json           NOT NULL
) PARTITION BY RANGE (occurred_at);
-- An account's log from a position on. A reader bounds occurred_at too, or it looks into the partition of every day.
CREATE INDEX events_in_order ON events (account_id, seq);

-- Takes what no day's partition does, so that a write never fails for want of one. Empty but for accidents.
CREATE TABLE events_default PARTITION OF events DEFAULT;

-- Both functions are called by every process (see events/store.ts), one at a time. They lock the log before its parts, as
-- writers and readers do. While they wait for a lock others wait behind them, so they soon give up; they are called again
-- long before it matters. (`SET lock_timeout = 0` keeps the SET LOCAL inside from lasting longer than the function.)

CREATE FUNCTION make_event_partition(day date) RETURNS void LANGUAGE plpgsql SET lock_timeout = 0 AS $$
DECLARE
  part  text        := 'events_' || to_char(day, 'YYYYMMDD');
  since timestamptz := day::timestamp AT TIME ZONE 'UTC';
  until timestamptz := (day + 1)::timestamp AT TIME ZONE 'UTC';
BEGIN
  IF to_regclass(part) IS NOT NULL THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock(7483650218);
  SET LOCAL lock_timeout = '1s';
  -- Writers wait here, not at the default partition: there a row that arrives after its day has a partition is an error.
  LOCK TABLE ONLY events IN SHARE ROW EXCLUSIVE MODE;
  -- Another process may just have made it. Only now do we see that: a session hears of new tables when it locks one.
  IF to_regclass(part) IS NOT NULL THEN RETURN; END IF;
  LOCK TABLE events_default IN ACCESS EXCLUSIVE MODE;
  EXECUTE format('CREATE TABLE %I (LIKE events INCLUDING DEFAULTS)', part);
  EXECUTE format(
    'WITH moved AS (DELETE FROM events_default WHERE occurred_at >= %L AND occurred_at < %L RETURNING *)
     INSERT INTO %I SELECT * FROM moved', since, until, part);
  EXECUTE format('ALTER TABLE events ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', part, since, until);
END $$;

CREATE FUNCTION drop_events_before(day date) RETURNS void LANGUAGE plpgsql SET lock_timeout = 0 AS $$
DECLARE
  part regclass;
BEGIN
  PERFORM pg_advisory_xact_lock(7483650218);
  SET LOCAL lock_timeout = '1s';
  FOR part IN
    SELECT pg_class.oid
    FROM pg_inherits
    JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent = 'events'::regclass
      AND relname ~ '^events_\d{8}$'
      AND relname < 'events_' || to_char(day, 'YYYYMMDD')
    ORDER BY relname
    -- Each takes locks, of which a transaction cannot have many; the rest goes the next time.
    LIMIT 100
  LOOP
    EXECUTE format('DROP TABLE %s', part);
  END LOOP;
  -- What accidents have left in the default partition goes too, a bounded number at a time.
  DELETE FROM events_default
  WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM events_default WHERE occurred_at < day::timestamp AT TIME ZONE 'UTC' LIMIT 100000));
END $$;

SELECT make_event_partition((now() AT TIME ZONE 'UTC')::date + days) FROM generate_series(0, 3) AS days;
