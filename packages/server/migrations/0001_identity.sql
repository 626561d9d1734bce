-- Accounts, and everyone who may ask for something in one. Every table carries account_id: nothing crosses accounts, and
-- it is the key to shard by. Times keep milliseconds, as the API shows them. `version` counts changes; the ETag is made of it.

CREATE TABLE accounts (
  id         uuid           PRIMARY KEY,
  name       text           NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE sites (
  id                                 uuid           PRIMARY KEY,
  account_id                         uuid           NOT NULL REFERENCES accounts,
  name                               text           NOT NULL,
  addresses                          text[]         NOT NULL,
  time_zone                          text,
  reactive_call_timeout              integer        NOT NULL,
  proactive_call_timeout             integer        NOT NULL,
  missed_call_unavailability_enabled boolean        NOT NULL,
  queue_ticket_timeout_sec           integer        NOT NULL,
  allowed_file_content_types         text[]         NOT NULL,
  allowed_file_senders               jsonb          NOT NULL,
  allowed_origins                    text[]         NOT NULL,
  version                            integer        NOT NULL DEFAULT 1,
  created_at                         timestamptz(3) NOT NULL DEFAULT now(),
  updated_at                         timestamptz(3) NOT NULL DEFAULT now(),
  UNIQUE (account_id, id)
);
-- A browser's preflight names only its origin: is it any site's?
CREATE INDEX sites_allowed_origins ON sites USING gin (allowed_origins);

CREATE TABLE teams (
  id          uuid           PRIMARY KEY,
  account_id  uuid           NOT NULL,
  site_id     uuid           NOT NULL,
  name        text           NOT NULL,
  description text,
  version     integer        NOT NULL DEFAULT 1,
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  updated_at  timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (account_id, site_id) REFERENCES sites (account_id, id),
  UNIQUE (site_id, id)
);
CREATE INDEX teams_in_order ON teams (account_id, site_id, created_at, id);

CREATE TABLE operators (
  id                   uuid           PRIMARY KEY,
  account_id           uuid           NOT NULL REFERENCES accounts,
  name                 text           NOT NULL,
  email                text           NOT NULL,
  role                 text           NOT NULL CHECK (role IN ('operator', 'manager', 'super_manager')),
  max_engagement_count integer        NOT NULL,
  enabled              boolean        NOT NULL DEFAULT true,
  -- Presence: what the operator last said, until when it holds (null: until changed), and when it was said.
  available            boolean        NOT NULL DEFAULT false,
  media                text[]         NOT NULL DEFAULT '{text,phone,audio,video}',
  presence_expires_at  timestamptz(3),
  presence_reason      text,
  presence_set_at      timestamptz(3),
  version              integer        NOT NULL DEFAULT 1,
  created_at           timestamptz(3) NOT NULL DEFAULT now(),
  updated_at           timestamptz(3) NOT NULL DEFAULT now(),
  UNIQUE (account_id, id)
);
CREATE UNIQUE INDEX operators_email ON operators (account_id, lower(email));
CREATE INDEX operators_in_order ON operators (account_id, created_at, id);

CREATE TABLE operator_assignments (
  account_id  uuid NOT NULL,
  operator_id uuid NOT NULL,
  site_id     uuid NOT NULL,
  role        text NOT NULL CHECK (role IN ('operator', 'manager', 'super_manager')),
  PRIMARY KEY (operator_id, site_id),
  FOREIGN KEY (account_id, operator_id) REFERENCES operators (account_id, id) ON DELETE CASCADE,
  FOREIGN KEY (account_id, site_id) REFERENCES sites (account_id, id)
);
CREATE INDEX operator_assignments_by_site ON operator_assignments (site_id, operator_id);

CREATE TABLE operator_teams (
  account_id  uuid NOT NULL,
  operator_id uuid NOT NULL,
  site_id     uuid NOT NULL,
  team_id     uuid NOT NULL,
  PRIMARY KEY (operator_id, team_id),
  FOREIGN KEY (operator_id, site_id) REFERENCES operator_assignments (operator_id, site_id) ON DELETE CASCADE,
  FOREIGN KEY (site_id, team_id) REFERENCES teams (site_id, id) ON DELETE CASCADE
);
CREATE INDEX operator_teams_by_team ON operator_teams (site_id, team_id);

CREATE TABLE api_keys (
  -- Text, not uuid: the first key's id may be chosen by whoever runs the service.
  id          text           PRIMARY KEY,
  account_id  uuid           NOT NULL,
  operator_id uuid           NOT NULL,
  secret_hash text           NOT NULL,
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (account_id, operator_id) REFERENCES operators (account_id, id) ON DELETE CASCADE
);
CREATE INDEX api_keys_by_operator ON api_keys (operator_id, created_at);

CREATE TABLE application_tokens (
  id          uuid           PRIMARY KEY,
  account_id  uuid           NOT NULL,
  site_id     uuid           NOT NULL,
  kind        text           NOT NULL CHECK (kind IN ('secret', 'publishable')),
  secret_hash text           NOT NULL,
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (account_id, site_id) REFERENCES sites (account_id, id)
);
CREATE INDEX application_tokens_by_site ON application_tokens (site_id, created_at);

CREATE TABLE visitors (
  id                  uuid           PRIMARY KEY,
  account_id          uuid           NOT NULL,
  site_id             uuid           NOT NULL,
  name                text,
  email               text,
  phone               text,
  note                text,
  custom_attributes   jsonb          NOT NULL DEFAULT '{}',
  external_id         text,
  team_ids            uuid[]         NOT NULL DEFAULT '{}',
  presence_expires_at timestamptz(3),
  version             integer        NOT NULL DEFAULT 1,
  created_at          timestamptz(3) NOT NULL DEFAULT now(),
  updated_at          timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (account_id, site_id) REFERENCES sites (account_id, id)
);
-- Few visitors have teams; this finds them when a team is deleted.
CREATE INDEX visitors_by_team ON visitors USING gin (team_ids) WHERE team_ids <> '{}';

CREATE TABLE revoked_tokens (
  id         uuid           PRIMARY KEY,
  account_id uuid           NOT NULL REFERENCES accounts,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX revoked_tokens_by_expiry ON revoked_tokens (expires_at);

-- The keys that sign tokens belong to the service, not to an account. The newest signs; a retired one still verifies
-- until the last token it may have signed has expired.
CREATE TABLE signing_keys (
  id          text           PRIMARY KEY,
  private_jwk jsonb          NOT NULL,
  created_at  timestamptz    NOT NULL DEFAULT clock_timestamp(),
  retired_at  timestamptz(3)
);

-- First answers, kept for a day under the hash of the caller's key and readable only with the key itself.
CREATE TABLE idempotency_keys (
  account_id   uuid           NOT NULL REFERENCES accounts,
  caller       text           NOT NULL,
  key_hash     bytea          NOT NULL,
  request_hash bytea          NOT NULL,
  answer       bytea,
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, caller, key_hash)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- What processes keep in memory is dropped when its row changes: see platform/change-feed.ts. The argument names the column
-- that is the key; a change of the row of a detail table is announced under the row it is a detail of.
CREATE FUNCTION tell_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('usher_changes', TG_ARGV[0] || ':' || (to_jsonb(coalesce(NEW, OLD)) ->> TG_ARGV[1]));
  RETURN NULL;
END $$;

CREATE TRIGGER tell AFTER INSERT OR UPDATE OR DELETE ON sites FOR EACH ROW EXECUTE FUNCTION tell_change('sites', 'id');
CREATE TRIGGER tell AFTER UPDATE OF enabled ON operators FOR EACH ROW
  WHEN (OLD.enabled IS DISTINCT FROM NEW.enabled) EXECUTE FUNCTION tell_change('operators', 'id');
CREATE TRIGGER tell AFTER INSERT OR UPDATE OR DELETE ON operator_assignments FOR EACH ROW
  EXECUTE FUNCTION tell_change('operators', 'operator_id');
CREATE TRIGGER tell AFTER INSERT OR UPDATE OR DELETE ON api_keys FOR EACH ROW
  EXECUTE FUNCTION tell_change('operators', 'operator_id');
CREATE TRIGGER tell AFTER UPDATE OR DELETE ON application_tokens FOR EACH ROW
  EXECUTE FUNCTION tell_change('application_tokens', 'id');
CREATE TRIGGER tell AFTER UPDATE OF site_id ON visitors FOR EACH ROW
  WHEN (OLD.site_id IS DISTINCT FROM NEW.site_id) EXECUTE FUNCTION tell_change('visitors', 'id');
CREATE TRIGGER tell AFTER INSERT ON revoked_tokens FOR EACH ROW EXECUTE FUNCTION tell_change('revoked_tokens', 'id');
CREATE TRIGGER tell AFTER INSERT OR UPDATE OR DELETE ON signing_keys FOR EACH ROW
  EXECUTE FUNCTION tell_change('signing_keys', 'id');
