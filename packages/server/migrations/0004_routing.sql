-- Routing: who waits, what is offered to whom, who is engaged with whom.
--
-- All of it is written by turns (routing/turn.ts): under the lock of the account's row, from a board in memory that knows
-- every active thing of the account. The board is what keeps it consistent, so the hot tables have no foreign keys, whose
-- checks would cost more than the writes; the unique indexes are a second lock on the door.

ALTER TABLE accounts
  -- Counts what has moved the account's board: turns, and changes of what is configured.
  ADD COLUMN board_version bigint NOT NULL DEFAULT 0,
  -- The number of the last ticket.
  ADD COLUMN last_seq      bigint NOT NULL DEFAULT 0,
  -- The instant of the last turn: time on a board never runs backwards, whatever the clocks of processes do.
  ADD COLUMN turned_at     timestamptz(3),
  -- Not later than the next instant at which something falls due on the board.
  ADD COLUMN next_due_at   timestamptz(3);
-- A turn updates its account's row: room on the page keeps the new version next to the old one.
ALTER TABLE accounts SET (fillfactor = 20);
CREATE INDEX accounts_due ON accounts (next_due_at) WHERE next_due_at IS NOT NULL;

-- Which rows each version has moved, so that a process whose board is behind reads those and no others. It may be lost: a
-- process that finds a gap reads everything. Rows go after an hour.
CREATE UNLOGGED TABLE board_moves (
  account_id uuid        NOT NULL,
  version    bigint      NOT NULL,
  things     jsonb       NOT NULL,
  moved_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, version)
);
CREATE INDEX board_moves_by_age ON board_moves (moved_at);

-- They were never filled: no route wrote them.
DROP TABLE queue_places, queue_tickets;

CREATE TABLE queue_tickets (
  id                    uuid             PRIMARY KEY,
  account_id            uuid             NOT NULL,
  site_id               uuid             NOT NULL,
  visitor_id            uuid             NOT NULL,
  -- Order of first enqueue in the account.
  seq                   bigint           NOT NULL,
  -- transfer: an engaged visitor is to be handed on to a queue.
  kind                  text             NOT NULL CHECK (kind IN ('visitor', 'transfer')),
  media                 text             NOT NULL CHECK (media IN ('text', 'phone', 'audio', 'video')),
  state                 text             NOT NULL
                        CHECK (state IN ('waiting', 'offered', 'engaged', 'canceled', 'visitor_left', 'unstaffed', 'expired')),
  criteria              text             NOT NULL,
  narrowed_to           uuid[]           NOT NULL,
  never_to              uuid,
  preferred_operator_id uuid,
  -- Operators who refused it, and until when (epoch milliseconds) they are spared.
  refusals              jsonb            NOT NULL,
  -- The queues it is in, or was in when it ended, and since when.
  queue_ids             uuid[]           NOT NULL,
  entered_at            timestamptz(3)[] NOT NULL,
  -- The request that offers it now.
  request_id            uuid,
  engagement_id         uuid,
  engaged_queue_id      uuid,
  -- What the caller gave and the board does not look into: source, media_options, message, webhooks.
  notes                 json             NOT NULL,
  enqueued_at           timestamptz(3)   NOT NULL,
  ended_at              timestamptz(3),
  updated_at            timestamptz(3)   NOT NULL,
  CHECK ((ended_at IS NULL) = (state IN ('waiting', 'offered')))
) WITH (fillfactor = 80);
-- Active is what has not ended. Not said of the state, which changes more often: a row whose indexed columns stay as they
-- are is updated in place, without a new entry in each of its indexes.
CREATE UNIQUE INDEX queue_tickets_one_active ON queue_tickets (site_id, visitor_id)
  WHERE kind = 'visitor' AND ended_at IS NULL;
CREATE INDEX queue_tickets_active ON queue_tickets (account_id, seq) WHERE ended_at IS NULL;

-- A visitor has left a queue: what reports are made of.
CREATE TABLE queue_visits (
  account_id  uuid           NOT NULL,
  queue_id    uuid           NOT NULL,
  ticket_id   uuid           NOT NULL,
  enqueued_at timestamptz(3) NOT NULL,
  entered_at  timestamptz(3) NOT NULL,
  left_at     timestamptz(3) NOT NULL,
  outcome     text           NOT NULL
              CHECK (outcome IN ('engaged', 'engaged_elsewhere', 'canceled', 'visitor_left', 'unstaffed', 'expired', 'moved'))
);
CREATE INDEX queue_visits_by_queue ON queue_visits (queue_id, entered_at);

-- What the board knows of a queue, so that reading queues needs no board.
CREATE TABLE queue_states (
  queue_id       uuid             PRIMARY KEY REFERENCES queues ON DELETE CASCADE,
  account_id     uuid             NOT NULL,
  visitors       integer          NOT NULL,
  standing       text             NOT NULL CHECK (standing IN ('opened', 'closed', 'unstaffed')),
  -- Milliseconds that the last hundred who left it for an engagement had waited.
  waits          bigint[]         NOT NULL,
  pace_ms        double precision,
  left_others_at timestamptz(3)
) WITH (fillfactor = 50);

CREATE TABLE engagement_requests (
  id            uuid           PRIMARY KEY,
  account_id    uuid           NOT NULL,
  site_id       uuid           NOT NULL,
  kind          text           NOT NULL CHECK (kind IN ('ticket', 'direct', 'transfer')),
  origin        text           NOT NULL CHECK (origin IN ('visitor', 'operator')),
  visitor_id    uuid           NOT NULL,
  operator_id   uuid           NOT NULL,
  media         text           NOT NULL,
  queue_id      uuid,
  ticket_id     uuid,
  -- The engagement to be transferred, or the one it has become.
  engagement_id uuid,
  state         text           NOT NULL CHECK (state IN ('pending', 'accepted', 'failed')),
  fail_reason   text,
  fail_message  text,
  timeout_ms    integer        NOT NULL,
  notes         json           NOT NULL,
  created_at    timestamptz(3) NOT NULL,
  updated_at    timestamptz(3) NOT NULL,
  CHECK ((state = 'failed') = (fail_reason IS NOT NULL))
) WITH (fillfactor = 80);
-- Pending offers are found by their tickets; of the others, which are few, the newest are looked through.
CREATE INDEX engagement_requests_direct ON engagement_requests (account_id, created_at) WHERE kind <> 'ticket';
CREATE INDEX engagement_requests_by_operator ON engagement_requests (operator_id, created_at);
CREATE INDEX engagement_requests_by_visitor ON engagement_requests (visitor_id, created_at);
CREATE INDEX engagement_requests_by_site ON engagement_requests (site_id, created_at);

CREATE TABLE engagements (
  id                uuid           PRIMARY KEY,
  account_id        uuid           NOT NULL,
  -- Where the visitor asked; by fallback or transfer it may be served on another site.
  asked_on_site_id  uuid           NOT NULL,
  -- Of the current sub-engagement, as are the operator and the medium.
  site_id           uuid           NOT NULL,
  visitor_id        uuid           NOT NULL,
  operator_id       uuid           NOT NULL,
  sub_engagement_id uuid           NOT NULL,
  sub_started_at    timestamptz(3) NOT NULL,
  media             text           NOT NULL,
  request_id        uuid           NOT NULL,
  ticket_id         uuid,
  queue_id          uuid,
  end_reason        text,
  started_at        timestamptz(3) NOT NULL,
  ended_at          timestamptz(3),
  updated_at        timestamptz(3) NOT NULL,
  CHECK ((ended_at IS NULL) = (end_reason IS NULL))
) WITH (fillfactor = 80);
CREATE INDEX engagements_by_site ON engagements (site_id, started_at, id);
-- Also: who last engaged the visitor (D4.3).
CREATE INDEX engagements_by_visitor ON engagements (visitor_id, started_at);
-- Also: how long an operator has been without a new engagement (D4.2).
CREATE INDEX engagements_by_operator ON engagements (operator_id, sub_started_at);

-- Those that go on. A table of its own, because an index of the others would make ending one cost as much as making it.
CREATE TABLE active_engagements (
  account_id    uuid NOT NULL,
  engagement_id uuid NOT NULL,
  PRIMARY KEY (account_id, engagement_id)
);

-- Who had an engagement before it was transferred, from when to when. The current one is in the engagement.
CREATE TABLE sub_engagements (
  id            uuid           PRIMARY KEY,
  account_id    uuid           NOT NULL,
  engagement_id uuid           NOT NULL,
  operator_id   uuid           NOT NULL,
  site_id       uuid           NOT NULL,
  started_at    timestamptz(3) NOT NULL,
  ended_at      timestamptz(3) NOT NULL
);
CREATE INDEX sub_engagements_by_engagement ON sub_engagements (engagement_id, started_at);
CREATE INDEX sub_engagements_by_operator ON sub_engagements (operator_id, started_at);

CREATE TABLE chat_messages (
  account_id        uuid           NOT NULL,
  engagement_id     uuid           NOT NULL,
  sub_engagement_id uuid           NOT NULL,
  id                uuid           NOT NULL,
  seq               bigint         GENERATED ALWAYS AS IDENTITY,
  sender_type       text           NOT NULL,
  sender_id         uuid,
  target            text           NOT NULL,
  type              text           NOT NULL,
  content           text           NOT NULL,
  attachment        json,
  metadata          json,
  status            text           NOT NULL,
  created_at        timestamptz(3) NOT NULL,
  PRIMARY KEY (engagement_id, id)
);
CREATE INDEX chat_messages_in_order ON chat_messages (engagement_id, seq);

-- Whatever is configured and matters to a board moves it: the account's version is raised, what moved is noted, and the
-- account falls due at once, so that some process takes a turn. A turn notes what it writes itself, and says that it is one.
-- The lock of the account's row comes with it, so whoever changes an operator must have taken that first.
CREATE FUNCTION move_board() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  moved   jsonb := to_jsonb(coalesce(NEW, OLD));
  account uuid  := moved ->> 'account_id';
  raised  bigint;
BEGIN
  UPDATE accounts
     SET board_version = board_version + 1, next_due_at = least(next_due_at, now())
   WHERE id = account
  RETURNING board_version INTO raised;
  INSERT INTO board_moves (account_id, version, things)
  VALUES (account, raised, jsonb_build_object(TG_ARGV[0], jsonb_build_array(moved ->> TG_ARGV[1])));
  PERFORM pg_notify('usher_changes', 'boards:' || account);
  RETURN NULL;
END $$;

CREATE TRIGGER move_board AFTER INSERT OR DELETE OR UPDATE OF reactive_call_timeout, proactive_call_timeout,
  missed_call_unavailability_enabled, queue_ticket_timeout_sec ON sites FOR EACH ROW
  EXECUTE FUNCTION move_board('sites', 'id');
CREATE TRIGGER move_board AFTER INSERT OR UPDATE OR DELETE ON queues FOR EACH ROW
  EXECUTE FUNCTION move_board('queues', 'id');
CREATE TRIGGER move_board AFTER INSERT OR UPDATE OR DELETE ON queue_rankings FOR EACH ROW
  EXECUTE FUNCTION move_board('queues', 'queue_id');
CREATE TRIGGER move_board AFTER UPDATE ON scheduling_policies FOR EACH ROW
  EXECUTE FUNCTION move_board('policies', 'id');
CREATE TRIGGER move_board_new AFTER INSERT ON operators FOR EACH ROW
  EXECUTE FUNCTION move_board('operators', 'id');
CREATE TRIGGER move_board AFTER UPDATE ON operators FOR EACH ROW
  WHEN (current_setting('usher.turn', true) IS DISTINCT FROM 'on'
        AND (OLD.enabled, OLD.max_engagement_count, OLD.available, OLD.media, OLD.presence_expires_at)
            IS DISTINCT FROM (NEW.enabled, NEW.max_engagement_count, NEW.available, NEW.media, NEW.presence_expires_at))
  EXECUTE FUNCTION move_board('operators', 'id');
CREATE TRIGGER move_board AFTER INSERT OR DELETE ON operator_assignments FOR EACH ROW
  EXECUTE FUNCTION move_board('operators', 'operator_id');
CREATE TRIGGER move_board AFTER INSERT OR DELETE ON operator_teams FOR EACH ROW
  EXECUTE FUNCTION move_board('operators', 'operator_id');
