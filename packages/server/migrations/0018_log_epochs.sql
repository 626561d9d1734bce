-- Positions in the log of events that survive crashes, failover, dump and restore, and major upgrades.
--
-- `events.xid` says which transaction wrote an event. PostgreSQL's own ids do not last: a restored cluster starts again
-- with small ones, and after a crash PostgreSQL gives out again those that it had not flushed. So the log counts epochs.
-- A new one begins whenever the ids may start again, and `xid` holds both: the epoch above bit 43, PostgreSQL's id below.
-- Within an epoch the ids are PostgreSQL's and may be held against its snapshots; every event of an older epoch is smaller
-- than every event of a newer one, and is committed. Events from before this migration are of epoch 0.

CREATE TABLE log_epochs (
  epoch    integer        PRIMARY KEY CHECK (epoch BETWEEN 0 AND 1048575),
  -- Tells this epoch from one with the same number in a history that a restored backup has replaced.
  tag      text           NOT NULL DEFAULT left(gen_random_uuid()::text, 8),
  began_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);

-- The epoch in force, one row. Unlogged on purpose: PostgreSQL empties unlogged tables in crash recovery and never copies
-- them to a standby, so after a crash or a failover there is no row. A dump does carry the row: there the start of the
-- server is another. (A server that was only restarted begins an epoch for nothing, which does no harm.)
CREATE UNLOGGED TABLE log_epoch_in_force (
  only_row          boolean     PRIMARY KEY DEFAULT true CHECK (only_row),
  epoch             integer     NOT NULL,
  tag               text        NOT NULL,
  server_started_at timestamptz NOT NULL
);

-- What `events.xid` holds for a transaction of an epoch, and the transaction of such a value.
CREATE FUNCTION log_position(epoch integer, transaction_id xid8) RETURNS xid8 LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN ((epoch::bigint << 43) + transaction_id::text::bigint)::text::xid8;
CREATE FUNCTION log_transaction(log_position xid8) RETURNS xid8 LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN ((log_position::text::bigint & ((1::bigint << 43) - 1))::text)::xid8;

-- The epoch in force; begins one where none is. Every transaction that writes an event asks, so that no event is ever
-- written under an epoch that is over. Volatile: after the lock it must see what another has begun meanwhile.
CREATE FUNCTION log_epoch() RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  current integer;
BEGIN
  SELECT f.epoch INTO current FROM log_epoch_in_force f WHERE f.server_started_at = pg_postmaster_start_time();
  IF FOUND THEN RETURN current; END IF;
  PERFORM pg_advisory_xact_lock(7483650219);
  SELECT f.epoch INTO current FROM log_epoch_in_force f WHERE f.server_started_at = pg_postmaster_start_time();
  IF FOUND THEN RETURN current; END IF;
  INSERT INTO log_epochs (epoch) SELECT coalesce(max(e.epoch), 0) + 1 FROM log_epochs e RETURNING epoch INTO current;
  INSERT INTO log_epoch_in_force (epoch, tag, server_started_at)
  SELECT e.epoch, e.tag, pg_postmaster_start_time() FROM log_epochs e WHERE e.epoch = current
  ON CONFLICT (only_row) DO UPDATE
     SET epoch = excluded.epoch, tag = excluded.tag, server_started_at = excluded.server_started_at;
  RETURN current;
END $$;

CREATE FUNCTION current_log_position() RETURNS xid8 LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN log_position(log_epoch(), pg_current_xact_id());
END $$;

ALTER TABLE events ALTER COLUMN xid SET DEFAULT current_log_position();

-- The number of an event is given after its transaction has an id. Readers rely on that: "every transaction that had an id
-- when number N was the last has ended" then means that nothing up to N is still to come.
DO $$
DECLARE
  last bigint := (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM events_seq_seq);
BEGIN
  ALTER TABLE events ALTER COLUMN seq DROP IDENTITY;
  CREATE SEQUENCE events_seq_seq OWNED BY events.seq;
  IF last > 0 THEN PERFORM setval('events_seq_seq', last); END IF;
  ALTER TABLE events ALTER COLUMN seq
    SET DEFAULT CASE WHEN pg_current_xact_id() IS NOT NULL THEN nextval('events_seq_seq') END;
END $$;

-- A database that was restored from a dump before this migration: events from before the restore have ids that this cluster
-- has not reached. What was written since is epoch 1, so that it stands behind them.
DO $$
DECLARE
  last_before_restore bigint := (SELECT max(seq) FROM events WHERE xid > pg_current_xact_id());
BEGIN
  INSERT INTO log_epochs (epoch) VALUES (0);
  IF last_before_restore IS NOT NULL THEN
    INSERT INTO log_epochs (epoch) VALUES (1);
    UPDATE events SET xid = log_position(1, xid) WHERE seq > last_before_restore;
    UPDATE deliveries SET event_xid = log_position(1, event_xid) WHERE event_seq > last_before_restore;
    UPDATE delivery_log SET event_xid = log_position(1, event_xid) WHERE event_seq > last_before_restore;
  END IF;
  INSERT INTO log_epoch_in_force (epoch, tag, server_started_at)
  SELECT epoch, tag, pg_postmaster_start_time() FROM log_epochs ORDER BY epoch DESC LIMIT 1;
END $$;
