-- Webhooks: who is told of what, what is yet to be told, and what became of it.

-- What an account calls: the unit of connections, of giving up for a while, and of who does it. One process at a time has
-- the lease of a destination; `epoch` is raised with each new lease, so that whoever held an older one can write nothing.
CREATE TABLE destinations (
  id           uuid        PRIMARY KEY,
  account_id   uuid        NOT NULL REFERENCES accounts ON DELETE CASCADE,
  -- Scheme, host and port; of Apple's service `apns://sandbox` or `apns://production`.
  origin       text        NOT NULL,
  owner        uuid,
  epoch        bigint      NOT NULL DEFAULT 0,
  leased_until timestamptz NOT NULL DEFAULT '-infinity',
  UNIQUE (account_id, origin)
) WITH (fillfactor = 50);

CREATE TABLE webhooks (
  id                    uuid           PRIMARY KEY,
  account_id            uuid           NOT NULL REFERENCES accounts ON DELETE CASCADE,
  destination_id        uuid           NOT NULL REFERENCES destinations,
  -- Of one that came with a ticket or request: which side brought it. Null: registered, for the whole account. Those that
  -- say the same are one row, which `digest` finds; what they are attached to names it.
  side                  text           CHECK (side IN ('visitor', 'operator')),
  digest                bytea,
  attached_at           timestamptz(3),
  url                   text           NOT NULL,
  -- Null with Apple's service.
  method                text,
  headers               json           NOT NULL,
  -- As they were given, and as events are called in the log.
  events                text[]         NOT NULL,
  hears                 text[]         NOT NULL,
  messages              text           NOT NULL DEFAULT 'own' CHECK (messages IN ('own', 'all')),
  site_ids              uuid[],
  description           text,
  ordering              text           NOT NULL DEFAULT 'engagement' CHECK (ordering IN ('engagement', 'none')),
  -- Sealed; null: requests are not signed.
  secret                bytea,
  old_secret            bytea,
  old_secret_until      timestamptz(3),
  enabled               boolean        NOT NULL DEFAULT true,
  disabled_because      text           CHECK (disabled_because IN ('asked', 'gone', 'failing', 'token_ended')),
  disabled_at           timestamptz(3),
  -- Since when nothing has arrived; null: the last attempt did, or there was none.
  failing_since         timestamptz(3),
  created_at            timestamptz(3) NOT NULL DEFAULT now(),
  updated_at            timestamptz(3) NOT NULL DEFAULT now(),
  deleted_at            timestamptz(3),
  CHECK ((side IS NULL) = (digest IS NULL)),
  CHECK (enabled = (disabled_because IS NULL))
);
CREATE INDEX webhooks_registered ON webhooks (account_id) WHERE side IS NULL AND deleted_at IS NULL;
CREATE UNIQUE INDEX webhooks_attached ON webhooks (account_id, digest) WHERE side IS NOT NULL;
-- Not of how it fares, which only whoever calls it has to know.
CREATE TRIGGER tell AFTER DELETE OR UPDATE OF destination_id, url, method, headers, events, hears, messages, site_ids,
  ordering, secret, old_secret, old_secret_until, enabled, deleted_at ON webhooks FOR EACH ROW
  EXECUTE FUNCTION tell_change('webhooks', 'id');

-- Webhooks that came with what it began with, or with a transfer of it: they hear of it until it ends.
ALTER TABLE engagements ADD COLUMN heard_by uuid[] NOT NULL DEFAULT '{}';
-- What tickets and requests carried so far was heard by nobody. From now on they carry the ids of webhooks.
UPDATE queue_tickets SET notes = (notes::jsonb || '{"webhooks": []}')::json
 WHERE ended_at IS NULL AND json_array_length(notes -> 'webhooks') > 0;
UPDATE engagement_requests SET notes = (notes::jsonb || '{"webhooks": []}')::json
 WHERE state = 'pending' AND json_array_length(notes -> 'webhooks') > 0;

-- A delivery finds its event by its transaction and number: one transaction may have written many.
DROP INDEX events_by_transaction;
CREATE INDEX events_by_transaction ON events (account_id, xid, seq);

-- A UUID that begins with the time (version 7): newer ones stand behind older ones in an index.
CREATE FUNCTION timed_uuid() RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
  SELECT encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
           PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
           52, 1), 53, 1), 'hex')::uuid
$$;

-- What is yet to be delivered. Rows are written by the statement that writes their event, and deleted when they have
-- arrived, or never will: what became of them is in the log. The event itself is found by its transaction.
CREATE TABLE deliveries (
  id             uuid           NOT NULL DEFAULT timed_uuid() PRIMARY KEY,
  account_id     uuid           NOT NULL,
  webhook_id     uuid           NOT NULL,
  destination_id uuid           NOT NULL,
  -- Events of it arrive in order; null: no order is kept.
  engagement_id  uuid,
  event_id       uuid           NOT NULL,
  event_seq      bigint         NOT NULL,
  event_xid      xid8           NOT NULL,
  occurred_at    timestamptz(3) NOT NULL,
  -- As the webhook spells it.
  event_type     text           NOT NULL,
  state          text           NOT NULL CHECK (state IN ('pending', 'retrying', 'held')),
  -- That have failed, since it last became pending.
  attempts       integer        NOT NULL DEFAULT 0,
  -- No longer in order with the others of its engagement.
  parked         boolean        NOT NULL DEFAULT false,
  -- Null: at once, in the order of the log.
  due_at         timestamptz(3),
  created_at     timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  -- Of a test: what is sent, as there is no event.
  body           json,
  CHECK (state <> 'retrying' OR due_at IS NOT NULL),
  CHECK (state <> 'held' OR due_at IS NULL)
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX deliveries_fresh ON deliveries (destination_id, event_seq) WHERE state = 'pending' AND due_at IS NULL;
CREATE INDEX deliveries_due ON deliveries (destination_id, due_at, event_seq) WHERE due_at IS NOT NULL;
-- The fresh ones of a webhook are found among those of its destination.
CREATE INDEX deliveries_set_aside ON deliveries (webhook_id, event_seq) WHERE state <> 'pending' OR due_at IS NOT NULL;

-- Every attempt, and everything else that was decided about a delivery: append-only, a partition a day (UTC).
CREATE TABLE delivery_log (
  at             timestamptz(3) NOT NULL,
  delivery_id    uuid           NOT NULL,
  account_id     uuid           NOT NULL,
  webhook_id     uuid           NOT NULL,
  destination_id uuid           NOT NULL,
  engagement_id  uuid,
  event_id       uuid           NOT NULL,
  event_seq      bigint         NOT NULL,
  event_xid      xid8           NOT NULL,
  occurred_at    timestamptz(3) NOT NULL,
  event_type     text           NOT NULL,
  created_at     timestamptz(3) NOT NULL,
  -- What the delivery was after this.
  state          text           NOT NULL CHECK (state IN ('delivered', 'retrying', 'exhausted', 'held', 'discarded')),
  -- The delivery is no longer in `deliveries`: this row stands for it, until it is replayed.
  final          boolean        NOT NULL,
  -- Of an attempt, how long it took; null: none was made.
  duration_ms    integer,
  -- Null: there was no answer.
  status         integer,
  answer         text,
  error          text,
  -- Of a test.
  body           json
) PARTITION BY RANGE (at);
CREATE INDEX delivery_log_by_delivery ON delivery_log (delivery_id);
CREATE INDEX delivery_log_by_webhook ON delivery_log (webhook_id, event_seq) WHERE final;
CREATE INDEX delivery_log_failed ON delivery_log (webhook_id, event_seq) WHERE final AND state <> 'delivered';
CREATE TABLE delivery_log_default PARTITION OF delivery_log DEFAULT;

-- As the log of events had them, for any log with a partition a day: see 0003.
CREATE FUNCTION make_day(log text, key text, day date) RETURNS void LANGUAGE plpgsql SET lock_timeout = 0 AS $$
DECLARE
  part  text        := log || '_' || to_char(day, 'YYYYMMDD');
  rest  text        := log || '_default';
  since timestamptz := day::timestamp AT TIME ZONE 'UTC';
  until timestamptz := (day + 1)::timestamp AT TIME ZONE 'UTC';
BEGIN
  IF to_regclass(part) IS NOT NULL THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock(7483650218);
  SET LOCAL lock_timeout = '1s';
  EXECUTE format('LOCK TABLE ONLY %I IN SHARE ROW EXCLUSIVE MODE', log);
  IF to_regclass(part) IS NOT NULL THEN RETURN; END IF;
  EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', rest);
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', part, log);
  EXECUTE format(
    'WITH moved AS (DELETE FROM %I WHERE %I >= %L AND %I < %L RETURNING *)
     INSERT INTO %I SELECT * FROM moved', rest, key, since, key, until, part);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', log, part, since, until);
END $$;

CREATE FUNCTION drop_days_before(log text, key text, day date) RETURNS void LANGUAGE plpgsql SET lock_timeout = 0 AS $$
DECLARE
  part regclass;
BEGIN
  PERFORM pg_advisory_xact_lock(7483650218);
  SET LOCAL lock_timeout = '1s';
  FOR part IN
    SELECT pg_class.oid
    FROM pg_inherits
    JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent = log::regclass
      AND relname ~ ('^' || log || '_\d{8}$')
      AND relname < log || '_' || to_char(day, 'YYYYMMDD')
    ORDER BY relname
    LIMIT 100
  LOOP
    EXECUTE format('DROP TABLE %s', part);
  END LOOP;
  EXECUTE format(
    'DELETE FROM %1$I WHERE ctid = ANY (ARRAY(SELECT ctid FROM %1$I WHERE %2$I < %3$L LIMIT 100000))',
    log || '_default', key, day::timestamp AT TIME ZONE 'UTC');
END $$;

-- Processes of the version before this one still call them while it is being replaced.
CREATE OR REPLACE FUNCTION make_event_partition(day date) RETURNS void LANGUAGE sql AS $$
  SELECT make_day('events', 'occurred_at', day)
$$;
CREATE OR REPLACE FUNCTION drop_events_before(day date) RETURNS void LANGUAGE sql AS $$
  SELECT drop_days_before('events', 'occurred_at', day)
$$;

SELECT make_day('delivery_log', 'at', (now() AT TIME ZONE 'UTC')::date + days) FROM generate_series(0, 3) AS days;
