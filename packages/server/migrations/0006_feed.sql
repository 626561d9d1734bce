-- The live feed holds presence by renewing leases, of thousands of operators every few seconds. Within a turn that is no news
-- of who is there: the turn tells what is. (Everybody who keeps a list of queues reads it anew when a lease in it ends.)
DROP TRIGGER tell_queues ON operators;
CREATE TRIGGER tell_queues AFTER UPDATE OF enabled, available, media, presence_expires_at ON operators FOR EACH ROW
  WHEN (current_setting('usher.turn', true) IS DISTINCT FROM 'on'
        AND (OLD.enabled, OLD.available, OLD.media, OLD.presence_expires_at)
            IS DISTINCT FROM (NEW.enabled, NEW.available, NEW.media, NEW.presence_expires_at))
  EXECUTE FUNCTION tell_change('queues_of_account', 'account_id');
