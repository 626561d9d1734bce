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

-- The epoch that was begun last, one row. Unlogged on purpose: PostgreSQL empties unlogged tables in crash recovery and never
-- copies them to a standby, so after a crash or a failover there is no row.
CREATE UNLOGGED TABLE log_epoch_begun (
  only_row          boolean     PRIMARY KEY DEFAULT true CHECK (only_row),
  epoch             integer     NOT NULL,
  tag               text        NOT NULL,
  -- A dump, or a copy of the database, carries the row along. It counts where it was written: in this run of the server, this
  -- database and this table. (So a restart begins an epoch for nothing, which does no harm.)
  server_started_at timestamptz NOT NULL,
  database_name     text        NOT NULL,
  table_oid         oid         NOT NULL
);

-- The epoch in force; no row if one must be begun.
CREATE VIEW log_epoch_in_force AS
SELECT epoch, tag
  FROM log_epoch_begun
 WHERE server_started_at = pg_postmaster_start_time() AND database_name = current_database() AND table_oid = tableoid;

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
  SELECT f.epoch INTO current FROM log_epoch_in_force f;
  IF FOUND THEN RETURN current; END IF;
  PERFORM pg_advisory_xact_lock(7483650219);
  SELECT f.epoch INTO current FROM log_epoch_in_force f;
  IF FOUND THEN RETURN current; END IF;
  INSERT INTO log_epochs (epoch) SELECT coalesce(max(e.epoch), 0) + 1 FROM log_epochs e RETURNING epoch INTO current;
  PERFORM put_epoch_in_force(current);
  RETURN current;
END $$;

CREATE FUNCTION put_epoch_in_force(begun integer) RETURNS void LANGUAGE sql AS $$
  DELETE FROM log_epoch_begun;
  INSERT INTO log_epoch_begun (epoch, tag, server_started_at, database_name, table_oid)
  SELECT epoch, tag, pg_postmaster_start_time(), current_database(), 'log_epoch_begun'::regclass
    FROM log_epochs WHERE epoch = begun;
$$;

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
-- has not reached. What was written since is epoch 1, so that it stands behind them. Served by events_by_transaction.
DO $$
DECLARE
  last_before_restore bigint := (
    SELECT max(old.seq)
      FROM accounts a
     CROSS JOIN LATERAL (SELECT max(e.seq) AS seq FROM events e
                          WHERE e.account_id = a.id AND e.xid > pg_current_xact_id()) AS old);
BEGIN
  INSERT INTO log_epochs (epoch) VALUES (0);
  IF last_before_restore IS NOT NULL THEN
    INSERT INTO log_epochs (epoch) VALUES (1);
    UPDATE events SET xid = log_position(1, xid) WHERE seq > last_before_restore;
    UPDATE deliveries SET event_xid = log_position(1, event_xid) WHERE event_seq > last_before_restore;
    UPDATE delivery_log SET event_xid = log_position(1, event_xid) WHERE event_seq > last_before_restore;
  END IF;
  PERFORM put_epoch_in_force(max(epoch)) FROM log_epochs;
END $$;

-- The version of an account's board, as positions in the log, must not come again with another meaning when a standby or a
-- backup has lost the last ones: a process would take the board that it holds for the current one. So the version jumps by
-- chance with the first move in an epoch, and a move says which version it followed.
ALTER TABLE accounts ADD COLUMN board_tag text;
ALTER TABLE board_moves ADD COLUMN previous bigint;

-- The version after this one. `tag`: of the epoch in which it was raised to this one.
CREATE FUNCTION next_board_version(version bigint, tag text) RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT version + 1 + CASE WHEN EXISTS (SELECT 1 FROM log_epoch_in_force f WHERE f.tag = next_board_version.tag) THEN 0
                            ELSE floor(random() * 4294967296)::bigint END
$$;

CREATE OR REPLACE FUNCTION move_board() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  moved   jsonb := to_jsonb(coalesce(NEW, OLD));
  account uuid  := moved ->> 'account_id';
  before  bigint;
  raised  bigint;
BEGIN
  SELECT board_version INTO before FROM accounts WHERE id = account FOR NO KEY UPDATE;
  UPDATE accounts
     SET board_version = next_board_version(board_version, board_tag), next_due_at = least(next_due_at, now()),
         board_tag = (SELECT tag FROM log_epoch_in_force)
   WHERE id = account
  RETURNING board_version INTO raised;
  INSERT INTO board_moves (account_id, version, previous, things)
  VALUES (account, raised, before, jsonb_build_object(TG_ARGV[0], jsonb_build_array(moved ->> TG_ARGV[1])));
  PERFORM pg_notify('usher_changes', 'boards:' || account);
  RETURN NULL;
END $$;

-- The transaction that asked for a recovery. What older transactions still have to commit may be held for the webhook with a
-- smaller number than the recovery has passed; so it starts when all of them have ended.
ALTER TABLE webhook_recoveries ADD COLUMN asked_in xid8;
ALTER TABLE webhook_recoveries ALTER COLUMN asked_in SET DEFAULT current_log_position();
