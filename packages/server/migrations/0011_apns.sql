-- The token that every process shows Apple. Apple counts how often it changes, so there is one for all of them: whoever
-- needs one first makes it under the lock of its row, the others read it.
CREATE TABLE apns_tokens (
  team_id    text    NOT NULL,
  key_id     text    NOT NULL,
  -- SHA-256 of the public key: a token that was signed with the wrong key file is not read once the right one is set.
  key_digest bytea   NOT NULL,
  -- Raised with each new token.
  version    integer NOT NULL DEFAULT 0,
  -- Sealed; null until the first is made.
  token      bytea,
  -- What it says itself (`iat`), by this database's clock.
  made_at    timestamptz,
  PRIMARY KEY (team_id, key_id, key_digest),
  CHECK ((token IS NULL) = (made_at IS NULL))
);
