-- Statistics for workforce management. New: presence_intervals (what operators did, from when to when), highest_media and
-- operator_team_ids of engagements and sub_engagements, destination_queue_id of queue_visits, and deleted_queues.

-- The state of an operator from one instant to another. There is no row for the time in which an operator was offline: before
-- they first said anything, after their lease ended, while they are disabled. Rows are kept from this migration on.
CREATE TABLE presence_intervals (
  -- Tells apart intervals that began at the same instant: the later one has the greater number.
  id          bigint         GENERATED ALWAYS AS IDENTITY,
  account_id  uuid           NOT NULL,
  operator_id uuid           NOT NULL,
  -- Has at least one engagement.
  engaged     boolean        NOT NULL,
  -- Takes offers by these media. False: away.
  available   boolean        NOT NULL,
  media       text[]         NOT NULL,
  -- Why the operator is away; null: no reason was given.
  reason      text,
  -- The operator's sites and teams: one element for each team, and one without a team for each site without one.
  site_ids    uuid[]         NOT NULL,
  team_ids    uuid[]         NOT NULL,
  started_at  timestamptz(3) NOT NULL,
  -- Null: it goes on. Unless the operator is engaged it goes on no longer than the operator's lease (operators.presence_expires_at).
  ended_at    timestamptz(3),
  -- Began before the end of an interval that was recorded earlier: the clock was set back in between.
  overlapping boolean        NOT NULL DEFAULT false,
  -- Closed intervals of one operator that do not overlap follow each other, so the one that reaches into a range is the last that
  -- began before it. Readers take those that overlap, and the one that goes on, by the indexes below.
  PRIMARY KEY (operator_id, started_at, id),
  CHECK (ended_at >= started_at),
  CHECK (cardinality(site_ids) = cardinality(team_ids))
);
CREATE UNIQUE INDEX presence_intervals_open ON presence_intervals (account_id, operator_id) WHERE ended_at IS NULL;
CREATE INDEX presence_intervals_overlapping ON presence_intervals (operator_id, started_at) WHERE overlapping;
-- For the sweep. Rows are written in the order in which they begin.
CREATE INDEX presence_intervals_by_age ON presence_intervals USING brin (started_at);

-- Whether an interval of the operator that begins at `at` overlaps one that was recorded before it. The last of those that follow
-- each other ends last. Served by the primary key.
CREATE FUNCTION overlaps_recorded(of_operator uuid, at timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT i.ended_at > at
                     FROM presence_intervals i
                    WHERE i.operator_id = of_operator AND i.ended_at IS NOT NULL AND NOT i.overlapping
                    ORDER BY i.started_at DESC, i.id DESC
                    LIMIT 1), false)
$$;

-- Compares the state of operators, as the tables have it now, with their open intervals: where it is another, the open interval
-- ends at `at` (or when the lease ended, if that was earlier) and the next begins. Called in the transaction that changes the
-- state, under the lock of the account's row. `engaged` null: as before. `lapsed_at`: when a lease ended that this transaction
-- has replaced. `at` may be older than the open interval, if another transaction came first: then the next begins where that began.
CREATE FUNCTION keep_presence(at timestamptz, changed json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  WITH given AS (
         SELECT g.operator_id, g.engaged, g.lapsed_at
           FROM json_to_recordset(changed) AS g (operator_id uuid, engaged boolean, lapsed_at timestamptz(3))),
       looked_up AS (
         SELECT o.account_id, o.id AS operator_id, i.id AS open_id,
                coalesce(g.engaged, i.engaged, false) AS engaged,
                o.enabled AND o.presence_set_at IS NOT NULL AND coalesce(o.presence_expires_at > at, true) AS is_there,
                o.available, o.media, o.presence_reason,
                coalesce(g.lapsed_at, CASE WHEN o.presence_expires_at <= at THEN o.presence_expires_at END) AS lapsed_at,
                places.site_ids, places.team_ids
           FROM given g
           JOIN operators o ON o.id = g.operator_id
           LEFT JOIN presence_intervals i ON i.account_id = o.account_id AND i.operator_id = o.id AND i.ended_at IS NULL
          CROSS JOIN LATERAL (
                SELECT coalesce(array_agg(a.site_id ORDER BY a.site_id, t.team_id), '{}') AS site_ids,
                       coalesce(array_agg(t.team_id ORDER BY a.site_id, t.team_id), '{}') AS team_ids
                  FROM operator_assignments a
                  LEFT JOIN operator_teams t ON t.operator_id = a.operator_id AND t.site_id = a.site_id
                 WHERE a.operator_id = o.id) AS places),
       current AS (
         SELECT account_id, operator_id, open_id, engaged, lapsed_at, media, site_ids, team_ids,
                engaged OR is_there AS is_online, is_there AND available AS available,
                CASE WHEN is_there AND NOT available THEN presence_reason END AS reason
           FROM looked_up),
       closed AS (
         UPDATE presence_intervals i
            SET ended_at = CASE WHEN NOT i.engaged AND c.lapsed_at > i.started_at THEN least(at, c.lapsed_at)
                                ELSE greatest(at, i.started_at) END
           FROM current c
          WHERE i.account_id = c.account_id AND i.operator_id = c.operator_id AND i.ended_at IS NULL
            AND (NOT c.is_online
                 OR (NOT i.engaged AND c.lapsed_at > i.started_at AND c.lapsed_at < at)
                 OR (i.engaged, i.available, i.media, i.reason, i.site_ids, i.team_ids)
                      IS DISTINCT FROM (c.engaged, c.available, c.media, c.reason, c.site_ids, c.team_ids))
         RETURNING i.operator_id, i.started_at)
  INSERT INTO presence_intervals (account_id, operator_id, engaged, available, media, reason, site_ids, team_ids, started_at, overlapping)
  SELECT c.account_id, c.operator_id, c.engaged, c.available, c.media, c.reason, c.site_ids, c.team_ids, begins.at,
         overlaps_recorded(c.operator_id, begins.at)
    FROM current c
    LEFT JOIN closed ON closed.operator_id = c.operator_id
   CROSS JOIN LATERAL (SELECT greatest(keep_presence.at, closed.started_at) AS at) AS begins
   WHERE c.is_online AND (c.open_id IS NULL OR closed.operator_id IS NOT NULL);
END $$;

-- What is changed outside of a turn: availability by PATCH, disabling, sites and teams. The triggers wait for the end of the
-- transaction, so that replacing assignments by the same ones changes nothing. A turn calls keep_presence itself.
-- Another site or team is no sign of life: it changes an interval that goes on, and begins none for an operator without one.
CREATE FUNCTION keep_presence_of_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed jsonb := to_jsonb(coalesce(NEW, OLD));
  lease   timestamptz(3) := to_jsonb(OLD) ->> 'presence_expires_at';
  at      timestamptz(3);
BEGIN
  IF TG_TABLE_NAME <> 'operators' AND NOT EXISTS (
       SELECT 1 FROM presence_intervals i
        WHERE i.account_id = (changed ->> 'account_id')::uuid AND i.operator_id = (changed ->> TG_ARGV[0])::uuid
          AND i.ended_at IS NULL) THEN
    RETURN NULL;
  END IF;
  -- Not before the last turn: time on a board never runs backwards.
  SELECT greatest(date_trunc('milliseconds', clock_timestamp()), turned_at) INTO at
    FROM accounts WHERE id = (changed ->> 'account_id')::uuid;
  PERFORM keep_presence(at, json_build_array(json_build_object(
    'operator_id', changed ->> TG_ARGV[0],
    'lapsed_at', CASE WHEN lease <= at THEN lease END)));
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER keep_presence AFTER UPDATE ON operators DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (current_setting('usher.turn', true) IS DISTINCT FROM 'on'
        AND (OLD.enabled, OLD.available, OLD.media, OLD.presence_reason, OLD.presence_set_at, OLD.presence_expires_at)
            IS DISTINCT FROM
            (NEW.enabled, NEW.available, NEW.media, NEW.presence_reason, NEW.presence_set_at, NEW.presence_expires_at))
  EXECUTE FUNCTION keep_presence_of_changed('id');
CREATE CONSTRAINT TRIGGER keep_presence AFTER INSERT OR DELETE ON operator_assignments DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION keep_presence_of_changed('operator_id');
CREATE CONSTRAINT TRIGGER keep_presence AFTER INSERT OR DELETE ON operator_teams DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION keep_presence_of_changed('operator_id');

-- The first intervals: operators who are available or engaged now. Operators who are away are left out until they say something:
-- consoles of earlier versions set no lease for them, so nobody knows which of them are still there.
SELECT keep_presence(
         date_trunc('milliseconds', clock_timestamp()),
         coalesce(json_agg(json_build_object('operator_id', o.id, 'engaged', busy.operator_id IS NOT NULL)), '[]'))
  FROM operators o
  LEFT JOIN (SELECT DISTINCT e.operator_id
               FROM active_engagements a
               JOIN engagements e ON e.id = a.engagement_id) busy ON busy.operator_id = o.id
 WHERE o.available OR busy.operator_id IS NOT NULL;

-- The highest medium of the sub-engagement, and the teams that its operator had on its site when it began. Null: it began before
-- this was kept. A sub-engagement that was transferred away also needs the medium it ended with.
ALTER TABLE engagements
  ADD COLUMN highest_media     text,
  ADD COLUMN operator_team_ids uuid[];
ALTER TABLE sub_engagements
  ADD COLUMN highest_media       text,
  ADD COLUMN operator_team_ids   uuid[];
-- Statistics look for the sub-engagements of sites by their start.
CREATE INDEX engagements_by_site_and_sub ON engagements (site_id, sub_started_at);
CREATE INDEX sub_engagements_by_site ON sub_engagements (site_id, started_at);

-- Where a visitor went who left the queue for another: the fallback queue, or the queue that made the match.
ALTER TABLE queue_visits ADD COLUMN destination_queue_id uuid;

-- Visits outlive their queue: statistics of the site include them.
CREATE TABLE deleted_queues (
  id         uuid           PRIMARY KEY,
  account_id uuid           NOT NULL,
  site_id    uuid           NOT NULL,
  deleted_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX deleted_queues_by_site ON deleted_queues (site_id);
CREATE FUNCTION remember_deleted_queue() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO deleted_queues (id, account_id, site_id) VALUES (OLD.id, OLD.account_id, OLD.site_id)
  ON CONFLICT (id) DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER remember_deleted_queue AFTER DELETE ON queues FOR EACH ROW EXECUTE FUNCTION remember_deleted_queue();
