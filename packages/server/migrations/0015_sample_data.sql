-- Sample data: at most one set of it an account. The row says what was made besides the site and what belongs to it, so that
-- nothing else is ever removed; and whether it moves. One process at a time acts in it, for the length of a lease; `epoch` is
-- raised with each new lease, so that whoever held an older one notices.
CREATE TABLE sample_data (
  account_id   uuid           PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
  site_id      uuid           NOT NULL,
  operator_ids uuid[]         NOT NULL,
  webhook_id   uuid,
  -- What everything that looks like chance is made of.
  seed         integer        NOT NULL,
  state        text           NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'stopped', 'removing')),
  -- Nothing is left to be done about it: what was under way when it was stopped has ended.
  settled      boolean        NOT NULL DEFAULT false,
  started_at   timestamptz(3) NOT NULL DEFAULT now(),
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  epoch        bigint         NOT NULL DEFAULT 0,
  leased_until timestamptz    NOT NULL DEFAULT '-infinity',
  CHECK (NOT settled OR state = 'stopped')
) WITH (fillfactor = 50);
