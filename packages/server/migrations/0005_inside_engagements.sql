-- Inside an engagement: messages and whether they arrived, typing, media. And the log of events as something to follow.

-- Messages to each side that it has not acknowledged. Sending one raises the count of its target, in the same statement
-- that writes it: so that takes the engagement's row, which puts its events in order and keeps it from ending meanwhile.
ALTER TABLE engagements
  ADD COLUMN undelivered_to_visitor  integer NOT NULL DEFAULT 0 CHECK (undelivered_to_visitor >= 0),
  ADD COLUMN undelivered_to_operator integer NOT NULL DEFAULT 0 CHECK (undelivered_to_operator >= 0);

ALTER TABLE chat_messages ADD COLUMN delivered_at timestamptz(3);
-- Of the welcome messages sent so far nobody could say that they had arrived.
UPDATE engagements e
   SET undelivered_to_visitor = 1
 WHERE ended_at IS NULL AND EXISTS (SELECT 1 FROM chat_messages m WHERE m.engagement_id = e.id);
-- The choices offered in an engagement, few among its messages.
CREATE INDEX chat_messages_choices ON chat_messages (engagement_id) WHERE attachment ->> 'type' = 'single_choice';

-- D8.11: grows whatever process asks, and a value that was given is never given again, not even after a crash.
CREATE SEQUENCE typing_clock;

CREATE TABLE media_upgrade_requests (
  id                uuid           PRIMARY KEY,
  account_id        uuid           NOT NULL,
  engagement_id     uuid           NOT NULL,
  sub_engagement_id uuid           NOT NULL,
  audio             text           CHECK (audio IN ('two_way')),
  video             text           CHECK (video IN ('one_way', 'two_way')),
  -- Who is asked.
  target            text           NOT NULL CHECK (target IN ('visitor', 'operator')),
  state             text           NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'accepted', 'declined', 'canceled')),
  created_at        timestamptz(3) NOT NULL,
  updated_at        timestamptz(3) NOT NULL,
  CHECK (audio IS NOT NULL OR video IS NOT NULL)
);
CREATE INDEX media_upgrade_requests_by_engagement ON media_upgrade_requests (engagement_id, created_at);
CREATE UNIQUE INDEX media_upgrade_requests_one_pending ON media_upgrade_requests (engagement_id) WHERE state = 'pending';

-- Which transaction wrote an event. `seq` is given before a transaction commits, so "after seq N" would miss what commits
-- later with a smaller one. What a reader has seen is therefore a snapshot, and what is new is what that snapshot could not
-- see. Events from before this migration have none, and are nothing new to anybody.
ALTER TABLE events ADD COLUMN xid xid8;
ALTER TABLE events ALTER COLUMN xid SET DEFAULT pg_current_xact_id();
DROP INDEX events_in_order;
CREATE INDEX events_by_transaction ON events (account_id, xid);
