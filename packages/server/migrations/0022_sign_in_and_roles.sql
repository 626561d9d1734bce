-- Browsers from which somebody has signed in as an operator. A browser holds 256 random bits, of which only a digest is
-- stored; several operators may have signed in from one browser. It proves nothing but that wrong guesses by others must not
-- lock this browser out.
CREATE TABLE known_devices (
  secret_digest bytea          NOT NULL,
  operator_id   uuid           NOT NULL,
  account_id    uuid           NOT NULL,
  last_used_at  timestamptz(3) NOT NULL DEFAULT now(),
  expires_at    timestamptz(3) NOT NULL,
  PRIMARY KEY (secret_digest, operator_id),
  FOREIGN KEY (account_id, operator_id) REFERENCES operators (account_id, id) ON DELETE CASCADE
);
CREATE INDEX known_devices_by_operator ON known_devices (operator_id, last_used_at);
CREATE INDEX known_devices_by_expiry ON known_devices (expires_at);

-- Of a webhook that an operator brought along: which operator. It hears of an engagement only while that operator has a role on
-- the engagement's site. Null: a visitor brought it, or it came before this column.
ALTER TABLE webhooks ADD COLUMN attached_by uuid;
