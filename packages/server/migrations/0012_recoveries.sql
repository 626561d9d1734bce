-- Recoveries: what a webhook missed is put back, in the order of the log, a batch at a time. A recovery goes on from
-- `after_seq` and `after_id`, which move in the transaction that puts a batch back: whoever takes it up after a crash
-- repeats nothing. `epoch` is raised by whoever takes it, so that one who had it before can write nothing.
CREATE TABLE webhook_recoveries (
  id          uuid           PRIMARY KEY,
  account_id  uuid           NOT NULL REFERENCES accounts ON DELETE CASCADE,
  webhook_id  uuid           NOT NULL,
  -- stopped: the webhook was disabled or deleted meanwhile.
  state       text           NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'finished', 'stopped')),
  -- Of events that occurred from then on, and before.
  since       timestamptz(3) NOT NULL,
  until       timestamptz(3),
  after_seq   bigint         NOT NULL DEFAULT -1,
  after_id    uuid           NOT NULL DEFAULT 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  recovered   bigint         NOT NULL DEFAULT 0,
  epoch       bigint         NOT NULL DEFAULT 0,
  taken_until timestamptz(3) NOT NULL DEFAULT '-infinity',
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  updated_at  timestamptz(3) NOT NULL DEFAULT now(),
  finished_at timestamptz(3),
  CHECK ((state = 'running') = (finished_at IS NULL))
) WITH (fillfactor = 50);
CREATE INDEX webhook_recoveries_by_webhook ON webhook_recoveries (webhook_id, created_at, id);
CREATE INDEX webhook_recoveries_running ON webhook_recoveries (taken_until) WHERE state = 'running';
CREATE INDEX webhook_recoveries_ended ON webhook_recoveries (finished_at) WHERE state <> 'running';

-- What housekeeping looks for: webhooks that nothing has brought along for long, those deleted long ago, and destinations
-- that nobody calls.
CREATE INDEX webhooks_attached_by_age ON webhooks (attached_at, id) WHERE side IS NOT NULL;
CREATE INDEX webhooks_deleted ON webhooks (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX webhooks_by_destination ON webhooks (destination_id);
-- When a webhook was last about to be written for it, to the day: one that is wanted is not dropped.
ALTER TABLE destinations ADD COLUMN wanted_at timestamptz(3) NOT NULL DEFAULT now();
CREATE INDEX destinations_by_age ON destinations (wanted_at, id);
