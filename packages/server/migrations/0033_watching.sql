-- additive
-- Somebody is notified when a webhook fails, is disabled, or works again.

-- When a webhook.failing or webhook.disabled event of the webhook was appended; null: none since its last success. With it, of
-- several processes exactly one appends each event.
ALTER TABLE webhooks ADD COLUMN alarmed_at timestamptz(3);
-- The process that next calls the webhook must know of the alarm, because its next success is an event.
CREATE TRIGGER tell_alarm AFTER UPDATE OF alarmed_at ON webhooks FOR EACH ROW
  WHEN (OLD.alarmed_at IS DISTINCT FROM NEW.alarmed_at) EXECUTE FUNCTION tell_change('webhooks', 'id');

-- The W3C trace context of the request that caused the event; null: the request had none. Webhooks of the event pass it on.
ALTER TABLE events ADD COLUMN traceparent text;
