-- additive
-- A partition is created and dropped without keeping writers of the log waiting. A backup holds a lock on every table until it ends, so the
-- functions waited for it with a lock on the log, or in the queue for one, and every writer waited behind them. Now they wait for each
-- lock for 100 ms at most, and lock the log last. DETACH PARTITION CONCURRENTLY is not allowed beside a default partition.

CREATE OR REPLACE FUNCTION make_day(log text, key text, day date) RETURNS void LANGUAGE plpgsql SET lock_timeout = 0 AS $$
DECLARE
  part  text        := log || '_' || to_char(day, 'YYYYMMDD');
  rest  text        := log || '_default';
  since timestamptz := day::timestamp AT TIME ZONE 'UTC';
  until timestamptz := (day + 1)::timestamp AT TIME ZONE 'UTC';
BEGIN
  IF to_regclass(part) IS NOT NULL THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock(7483650218);
  SET LOCAL lock_timeout = '100ms';
  EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', rest);
  EXECUTE format('LOCK TABLE ONLY %I IN SHARE ROW EXCLUSIVE MODE', log);
  -- Another process may have created the partition. This session sees that only after it has locked a table.
  IF to_regclass(part) IS NOT NULL THEN RETURN; END IF;
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', part, log);
  EXECUTE format(
    'WITH moved AS (DELETE FROM %I WHERE %I >= %L AND %I < %L RETURNING *)
     INSERT INTO %I SELECT * FROM moved', rest, key, since, key, until, part);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', log, part, since, until);
END $$;

-- Drops the oldest partition before `day`. Returns whether there was one.
CREATE FUNCTION drop_oldest_day(log text, day date) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = 0 AS $$
DECLARE
  part text;
BEGIN
  PERFORM pg_advisory_xact_lock(7483650218);
  SELECT relname INTO part
    FROM pg_inherits
    JOIN pg_class ON pg_class.oid = inhrelid
   WHERE inhparent = log::regclass
     AND relname ~ ('^' || log || '_\d{8}$')
     AND relname < log || '_' || to_char(day, 'YYYYMMDD')
   ORDER BY relname
   LIMIT 1;
  IF part IS NULL THEN RETURN false; END IF;
  SET LOCAL lock_timeout = '100ms';
  EXECUTE format('LOCK TABLE %I, %I, ONLY %I IN ACCESS EXCLUSIVE MODE', part, log || '_default', log);
  EXECUTE format('DROP TABLE %I', part);
  RETURN true;
END $$;

-- Deletes old rows without a partition of their own. It does not drop partitions any more: see drop_oldest_day.
CREATE OR REPLACE FUNCTION drop_days_before(log text, key text, day date) RETURNS void LANGUAGE plpgsql SET lock_timeout = 0 AS $$
BEGIN
  EXECUTE format(
    'DELETE FROM %1$I WHERE ctid = ANY (ARRAY(SELECT ctid FROM %1$I WHERE %2$I < %3$L LIMIT 100000))',
    log || '_default', key, day::timestamp AT TIME ZONE 'UTC');
END $$;
