-- additive
-- The same rules for presence intervals (see 0025), with plans that do not depend on statistics. While the table grows, the planner
-- expects few rows in it: for each operator whose state changed it read all intervals of that operator, and all that go on in the
-- account. The setting applies within the function only.
CREATE OR REPLACE FUNCTION overlaps_recorded(of_operator uuid, at timestamptz) RETURNS boolean LANGUAGE sql STABLE
SET enable_bitmapscan = off AS $$
  SELECT coalesce((SELECT i.ended_at > at
                     FROM presence_intervals i
                    WHERE i.operator_id = of_operator AND i.ended_at IS NOT NULL AND NOT i.overlapping
                    ORDER BY i.started_at DESC, i.id DESC
                    LIMIT 1), false)
$$;

-- A loop, because the planner joins the intervals to the operators in any order if it is given both at once.
CREATE OR REPLACE FUNCTION keep_presence(at timestamptz, changed json) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  c         record;
  begins_at timestamptz(3);
BEGIN
  FOR c IN
    SELECT account_id, operator_id, opened_at, engaged, lapsed_at, media, site_ids, team_ids,
           engaged OR is_there AS is_online, is_there AND available AS available,
           CASE WHEN is_there AND NOT available THEN presence_reason END AS reason
      FROM (SELECT o.account_id, o.id AS operator_id, i.started_at AS opened_at,
                   coalesce(g.engaged, i.engaged, false) AS engaged,
                   o.enabled AND o.presence_set_at IS NOT NULL AND coalesce(o.presence_expires_at > at, true) AS is_there,
                   o.available, o.media, o.presence_reason,
                   coalesce(g.lapsed_at, CASE WHEN o.presence_expires_at <= at THEN o.presence_expires_at END) AS lapsed_at,
                   places.site_ids, places.team_ids
              FROM json_to_recordset(changed) AS g (operator_id uuid, engaged boolean, lapsed_at timestamptz(3))
              JOIN operators o ON o.id = g.operator_id
              LEFT JOIN LATERAL (
                   SELECT i.started_at, i.engaged
                     FROM presence_intervals i
                    WHERE i.account_id = o.account_id AND i.operator_id = o.id AND i.ended_at IS NULL
                    LIMIT 1) AS i ON true
             CROSS JOIN LATERAL (
                   SELECT coalesce(array_agg(a.site_id ORDER BY a.site_id, t.team_id), '{}') AS site_ids,
                          coalesce(array_agg(t.team_id ORDER BY a.site_id, t.team_id), '{}') AS team_ids
                     FROM operator_assignments a
                     LEFT JOIN operator_teams t ON t.operator_id = a.operator_id AND t.site_id = a.site_id
                    WHERE a.operator_id = o.id) AS places) AS looked_up
  LOOP
    IF c.opened_at IS NOT NULL THEN
      UPDATE presence_intervals i
         SET ended_at = CASE WHEN NOT i.engaged AND c.lapsed_at > i.started_at THEN least(at, c.lapsed_at)
                             ELSE greatest(at, i.started_at) END
       WHERE i.account_id = c.account_id AND i.operator_id = c.operator_id AND i.ended_at IS NULL
         AND (NOT c.is_online
              OR (NOT i.engaged AND c.lapsed_at > i.started_at AND c.lapsed_at < at)
              OR (i.engaged, i.available, i.media, i.reason, i.site_ids, i.team_ids)
                   IS DISTINCT FROM (c.engaged, c.available, c.media, c.reason, c.site_ids, c.team_ids));
      CONTINUE WHEN NOT FOUND;
    END IF;
    IF c.is_online THEN
      begins_at := greatest(at, c.opened_at);
      INSERT INTO presence_intervals (account_id, operator_id, engaged, available, media, reason, site_ids, team_ids, started_at, overlapping)
      VALUES (c.account_id, c.operator_id, c.engaged, c.available, c.media, c.reason, c.site_ids, c.team_ids, begins_at,
              overlaps_recorded(c.operator_id, begins_at));
    END IF;
  END LOOP;
END $$;
