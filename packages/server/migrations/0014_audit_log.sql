-- Who has changed what by the API: append-only, a partition a day (UTC), dropped with the events of that day. No foreign keys:
-- an entry outlives what it is about, and whoever did it.

CREATE TABLE audit_log (
  account_id  uuid           NOT NULL,
  -- Given while whatever was changed is still locked: of two changes of one thing the later has the greater.
  seq         bigint         GENERATED ALWAYS AS IDENTITY,
  id          uuid           NOT NULL,
  at          timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  -- The sites it concerns. Null: all of the account's. None: no site's in particular.
  site_ids    uuid[],
  -- Shown to those who are super_manager of each of the sites; otherwise to those of any.
  of_each     boolean        NOT NULL,
  actor_id    uuid           NOT NULL,
  -- As it was then.
  actor_name  text           NOT NULL,
  -- What the actor's token was obtained with.
  via         text           NOT NULL,
  action      text           NOT NULL,
  target_type text           NOT NULL,
  target_id   text           NOT NULL,
  target_name text,
  changes     json           NOT NULL,
  request_id  text           NOT NULL
) PARTITION BY RANGE (at);
CREATE INDEX audit_log_in_order ON audit_log (account_id, seq);
-- What became of one thing.
CREATE INDEX audit_log_of_target ON audit_log (account_id, target_id, seq);

-- Takes what no day's partition does. Empty but for accidents.
CREATE TABLE audit_log_default PARTITION OF audit_log DEFAULT;

SELECT make_day('audit_log', 'at', (now() AT TIME ZONE 'UTC')::date + days) FROM generate_series(0, 3) AS days;
