-- How people sign in to the console. What they hold is random and stored as a digest; what they thought up is stored as
-- a slow hash.

CREATE TABLE operator_passwords (
  operator_id uuid           PRIMARY KEY,
  account_id  uuid           NOT NULL,
  hash        text           NOT NULL,
  set_at      timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (account_id, operator_id) REFERENCES operators (account_id, id) ON DELETE CASCADE
);
-- Whoever signs in says its address, not its account.
CREATE INDEX operators_by_email ON operators (lower(email));

CREATE TABLE operator_sessions (
  id             uuid           PRIMARY KEY,
  account_id     uuid           NOT NULL,
  operator_id    uuid           NOT NULL,
  signed_in_with text           NOT NULL CHECK (signed_in_with IN ('password', 'api_key', 'link', 'invitation')),
  -- The session ends with the key that it was begun with.
  api_key_id     text           REFERENCES api_keys ON DELETE CASCADE,
  secret_digest  bytea          NOT NULL,
  user_agent     text           NOT NULL,
  created_at     timestamptz(3) NOT NULL DEFAULT now(),
  last_used_at   timestamptz(3) NOT NULL DEFAULT now(),
  expires_at     timestamptz(3) NOT NULL,
  CHECK ((signed_in_with = 'api_key') = (api_key_id IS NOT NULL)),
  FOREIGN KEY (account_id, operator_id) REFERENCES operators (account_id, id) ON DELETE CASCADE
);
CREATE INDEX operator_sessions_by_operator ON operator_sessions (operator_id, last_used_at);
CREATE INDEX operator_sessions_by_key ON operator_sessions (api_key_id) WHERE api_key_id IS NOT NULL;
CREATE INDEX operator_sessions_by_expiry ON operator_sessions (expires_at);
-- Its use moves times alone, which no process keeps.
CREATE TRIGGER tell AFTER INSERT OR DELETE ON operator_sessions FOR EACH ROW
  EXECUTE FUNCTION tell_change('operators', 'operator_id');

-- One an operator: a new one replaces the old.
CREATE TABLE operator_invitations (
  operator_id   uuid           PRIMARY KEY,
  account_id    uuid           NOT NULL,
  id            uuid           NOT NULL,
  secret_digest bytea          NOT NULL UNIQUE,
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  expires_at    timestamptz(3) NOT NULL,
  FOREIGN KEY (account_id, operator_id) REFERENCES operators (account_id, id) ON DELETE CASCADE
);
CREATE INDEX operator_invitations_by_expiry ON operator_invitations (expires_at);

CREATE TABLE sign_in_links (
  secret_digest bytea          PRIMARY KEY,
  account_id    uuid           NOT NULL,
  operator_id   uuid           NOT NULL,
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  expires_at    timestamptz(3) NOT NULL,
  FOREIGN KEY (account_id, operator_id) REFERENCES operators (account_id, id) ON DELETE CASCADE
);
CREATE INDEX sign_in_links_by_operator ON sign_in_links (operator_id);
CREATE INDEX sign_in_links_by_expiry ON sign_in_links (expires_at);
