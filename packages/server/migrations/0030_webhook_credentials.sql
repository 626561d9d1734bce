-- What a channel signs in with at the server of a webhook, as JSON, sealed; null: it does not. It is for that server alone.
ALTER TABLE webhooks ADD COLUMN credentials bytea;
DROP TRIGGER tell ON webhooks;
CREATE TRIGGER tell AFTER DELETE OR UPDATE OF destination_id, url, method, headers, credentials, events, hears, messages,
  site_ids, ordering, secret, old_secret, old_secret_until, enabled, deleted_at, covers ON webhooks FOR EACH ROW
  EXECUTE FUNCTION tell_change('webhooks', 'id');
