-- Visitors prove who they are by the identity providers of their site. And the SIP domains of sites.

-- What must be read again but not lie open is sealed under the newest of these (identity/sealer.ts). They belong to the
-- service, as signing keys do. None is ever deleted: what it sealed could not be opened any more.
CREATE TABLE sealing_keys (
  id         uuid        PRIMARY KEY,
  key        bytea       NOT NULL CHECK (length(key) = 32),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE visitor_authentication_providers (
  id            uuid           PRIMARY KEY,
  account_id    uuid           NOT NULL,
  site_id       uuid           NOT NULL,
  name          text           NOT NULL,
  type          text           NOT NULL CHECK (type IN ('openid_connect')),
  issuer        text           NOT NULL,
  client_id     text           NOT NULL,
  -- Sealed.
  client_secret bytea,
  redirect_uris text[]         NOT NULL,
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (account_id, site_id) REFERENCES sites (account_id, id)
);
CREATE UNIQUE INDEX visitor_authentication_providers_name ON visitor_authentication_providers (site_id, lower(name));

-- A request is decided in the background by whichever process takes it, and taken over by another once `taken_until` has
-- passed. No foreign keys: a request outlives the provider it names, and fails for that.
CREATE TABLE visitor_authentication_requests (
  id          uuid           PRIMARY KEY,
  account_id  uuid           NOT NULL,
  site_id     uuid           NOT NULL,
  visitor_id  uuid           NOT NULL,
  provider_id uuid           NOT NULL,
  state       text           NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'succeeded', 'failed')),
  fail_reason text,
  -- What the visitor gave, sealed; gone once it is decided.
  proof       bytea,
  attempts    integer        NOT NULL DEFAULT 0,
  taken_until timestamptz    NOT NULL DEFAULT now(),
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  updated_at  timestamptz(3) NOT NULL DEFAULT now(),
  CHECK ((state = 'pending') = (proof IS NOT NULL)),
  CHECK ((state = 'failed') = (fail_reason IS NOT NULL))
);
-- Who is next; how many a visitor, or a site, has pending; what is old.
CREATE INDEX visitor_authentication_requests_pending ON visitor_authentication_requests (taken_until, created_at)
  WHERE state = 'pending';
CREATE INDEX visitor_authentication_requests_by_site ON visitor_authentication_requests (site_id, visitor_id)
  WHERE state = 'pending';
CREATE INDEX visitor_authentication_requests_by_age ON visitor_authentication_requests (created_at)
  WHERE state <> 'pending';

-- Tokens that have proved somebody: none does so twice. Kept for longer than a token is accepted.
CREATE TABLE used_id_tokens (
  account_id uuid           NOT NULL,
  token_hash bytea          NOT NULL,
  used_at    timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, token_hash)
);
CREATE INDEX used_id_tokens_by_age ON used_id_tokens (used_at);

-- What an event tells its receivers and the log must not hold, sealed, for a day at most.
CREATE TABLE event_secrets (
  event_id   uuid           PRIMARY KEY,
  account_id uuid           NOT NULL,
  sealed     bytea          NOT NULL,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX event_secrets_by_expiry ON event_secrets (expires_at);

CREATE TABLE sip_domains (
  id         uuid           PRIMARY KEY,
  account_id uuid           NOT NULL,
  site_id    uuid           NOT NULL,
  -- Lower-case. A call comes in by its domain alone, so no two sites of the service may share one.
  domain     text           NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT sip_domains_domain UNIQUE (domain),
  FOREIGN KEY (account_id, site_id) REFERENCES sites (account_id, id)
);
CREATE INDEX sip_domains_by_site ON sip_domains (site_id, created_at, id);
