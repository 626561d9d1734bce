-- Long-lived tokens of operators, for programs that do not obtain a new token every hour. The secret in a token has 256 random
-- bits, so a plain digest of it is stored. A row is never changed but for last_used_at.
CREATE TABLE operator_access_tokens (
  id            uuid           PRIMARY KEY,
  account_id    uuid           NOT NULL,
  operator_id   uuid           NOT NULL,
  name          text           NOT NULL,
  secret_digest bytea          NOT NULL,
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  -- Null: the token does not expire.
  expires_at    timestamptz(3),
  -- Written once a minute at most.
  last_used_at  timestamptz(3),
  FOREIGN KEY (account_id, operator_id) REFERENCES operators (account_id, id) ON DELETE CASCADE
);
CREATE INDEX operator_access_tokens_by_operator ON operator_access_tokens (operator_id, created_at);
CREATE INDEX operator_access_tokens_by_expiry ON operator_access_tokens (expires_at) WHERE expires_at IS NOT NULL;
-- A deleted token is dropped from the memory of every process. A new token needs no notice: no process can have
-- looked it up before.
CREATE TRIGGER tell AFTER DELETE ON operator_access_tokens FOR EACH ROW
  EXECUTE FUNCTION tell_change('operator_access_tokens', 'id');
