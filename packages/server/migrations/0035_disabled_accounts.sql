-- additive
-- The administrator of the service can disable an account: its callers are refused, and nothing of it becomes due. null: enabled.
ALTER TABLE accounts ADD COLUMN disabled_at timestamptz(3);
-- Every process drops the callers that it keeps in memory, and checks the open feeds.
CREATE TRIGGER tell AFTER UPDATE OF disabled_at ON accounts FOR EACH ROW
  WHEN (OLD.disabled_at IS DISTINCT FROM NEW.disabled_at) EXECUTE FUNCTION tell_change('accounts', 'id');
