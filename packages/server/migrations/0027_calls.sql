-- Audio and video calls of engagements: how long each lasted, and who hung up.
CREATE TABLE calls (
  id                uuid           PRIMARY KEY,
  account_id        uuid           NOT NULL,
  engagement_id     uuid           NOT NULL REFERENCES engagements (id) ON DELETE CASCADE,
  sub_engagement_id uuid           NOT NULL,
  -- When the engagement became a call.
  started_at        timestamptz(3) NOT NULL,
  -- When a side first said that the two were connected. Null: they never were.
  connected_at      timestamptz(3),
  ended_at          timestamptz(3),
  -- Who hung up. Null: the call ended with the engagement, or with the operator's part in it.
  ended_by          text           CHECK (ended_by IN ('visitor', 'operator')),
  CHECK (ended_by IS NULL OR ended_at IS NOT NULL)
);
CREATE INDEX calls_by_engagement ON calls (engagement_id, started_at);
CREATE UNIQUE INDEX calls_one_at_a_time ON calls (engagement_id) WHERE ended_at IS NULL;

-- Engagements that are calls now. Nobody can say when their sides were connected.
INSERT INTO calls (id, account_id, engagement_id, sub_engagement_id, started_at)
SELECT gen_random_uuid(), e.account_id, e.id, e.sub_engagement_id, e.sub_started_at
  FROM active_engagements a
  JOIN engagements e ON e.id = a.engagement_id
 WHERE e.media IN ('audio', 'video');
