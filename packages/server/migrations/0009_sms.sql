-- Outbound SMS: what goes to phones and what comes back.

-- A request that an operator has made by SMS, and between which numbers. Written before the request is (its id is made
-- first), so that a crash can neither send an SMS for a request that never was nor forget the one of a request that is.
CREATE TABLE sms_threads (
  request_id  uuid           PRIMARY KEY,
  account_id  uuid           NOT NULL,
  site_id     uuid           NOT NULL,
  visitor_id  uuid           NOT NULL,
  operator_id uuid           NOT NULL,
  -- Ours, and the visitor's.
  from_number text           NOT NULL,
  to_number   text           NOT NULL,
  created_at  timestamptz(3) NOT NULL DEFAULT now()
);
-- Whose reply it is; and which account a number of ours works for.
CREATE INDEX sms_threads_by_numbers ON sms_threads (from_number, to_number, created_at);

-- Each SMS, either way. `due_at` says when something is to be done about it: it is moved ahead by whoever does it, so that
-- another does if that one dies, and is null once nothing is left to do.
--
--   outbound   prepared → queued → sending → sent → delivered
--              sending → failing → failed    failing: the request must still be told
--   inbound    received → taken, or unclaimed where nobody was there to take it
CREATE TABLE sms_messages (
  id              uuid           PRIMARY KEY,
  seq             bigint         GENERATED ALWAYS AS IDENTITY,
  account_id      uuid           NOT NULL,
  site_id         uuid           NOT NULL,
  request_id      uuid           NOT NULL,
  engagement_id   uuid,
  -- The chat message it carries, or has become; null for the SMS that asks.
  chat_message_id uuid,
  direction       text           NOT NULL CHECK (direction IN ('outbound', 'inbound')),
  from_number     text           NOT NULL,
  to_number       text           NOT NULL,
  body            text           NOT NULL,
  carrier_sid     text           CONSTRAINT sms_messages_carrier_sid UNIQUE,
  state           text           NOT NULL
                  CHECK (CASE direction WHEN 'outbound'
                         THEN state IN ('prepared', 'queued', 'sending', 'sent', 'delivered', 'failing', 'failed')
                         ELSE state IN ('received', 'taken', 'unclaimed') END),
  error           text,
  attempts        integer        NOT NULL DEFAULT 0,
  due_at          timestamptz(3),
  created_at      timestamptz(3) NOT NULL DEFAULT now(),
  updated_at      timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX sms_messages_due ON sms_messages (due_at) WHERE due_at IS NOT NULL;
-- What is still to be done in a thread, in order: an SMS does not overtake the one before it.
CREATE INDEX sms_messages_unfinished ON sms_messages (request_id, direction, seq) WHERE due_at IS NOT NULL;
CREATE INDEX sms_messages_by_chat_message ON sms_messages (engagement_id, chat_message_id) WHERE chat_message_id IS NOT NULL;

-- Wakes whoever sends. Only a hint: they look by themselves too.
CREATE FUNCTION tell_sms() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('usher_changes', 'sms:');
  RETURN NULL;
END $$;
CREATE TRIGGER tell AFTER INSERT ON sms_messages FOR EACH ROW
  WHEN (NEW.state <> 'prepared') EXECUTE FUNCTION tell_sms();

-- Who has been written to at a phone.
CREATE INDEX sms_threads_by_phone ON sms_threads (site_id, to_number, created_at);

-- Requests that wait for longer than any site's time-out, which is an hour at most. None of these columns ever changes, so
-- answering a request still touches no index.
CREATE INDEX engagement_requests_lasting ON engagement_requests (account_id, created_at) WHERE timeout_ms > 3600000;
