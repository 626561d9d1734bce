-- Scheduling policies, queues and what hangs on them. Foreign keys are RESTRICT: what is in use cannot go, whatever races.
-- Whoever changes how queues hang together holds the account's row (FOR NO KEY UPDATE), so that one at a time decides.

CREATE TABLE scheduling_policies (
  id             uuid           PRIMARY KEY,
  account_id     uuid           NOT NULL,
  site_id        uuid           NOT NULL,
  name           text           NOT NULL,
  description    text,
  timezone       text           NOT NULL,
  business_hours jsonb          NOT NULL,
  exceptions     jsonb          NOT NULL DEFAULT '[]',
  version        integer        NOT NULL DEFAULT 1,
  created_at     timestamptz(3) NOT NULL DEFAULT now(),
  updated_at     timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (account_id, site_id) REFERENCES sites (account_id, id),
  UNIQUE (account_id, id)
);
CREATE INDEX scheduling_policies_by_site ON scheduling_policies (site_id, created_at, id);

CREATE TABLE queues (
  id                       uuid           PRIMARY KEY,
  account_id               uuid           NOT NULL,
  site_id                  uuid           NOT NULL,
  name                     text           NOT NULL,
  description              text,
  capacity_policy          jsonb          NOT NULL,
  routing_policy           jsonb          NOT NULL,
  when_unstaffed           text           NOT NULL CHECK (when_unstaffed IN ('accept', 'reject')),
  operator_ranking_enabled boolean        NOT NULL,
  welcome_message          text,
  scheduling_policy_id     uuid,
  fallback_queue_id        uuid,
  operator_affinity        jsonb,
  version                  integer        NOT NULL DEFAULT 1,
  created_at               timestamptz(3) NOT NULL DEFAULT now(),
  updated_at               timestamptz(3) NOT NULL DEFAULT now(),
  UNIQUE (account_id, id),
  FOREIGN KEY (account_id, site_id) REFERENCES sites (account_id, id),
  CONSTRAINT queues_scheduling_policy FOREIGN KEY (account_id, scheduling_policy_id)
    REFERENCES scheduling_policies (account_id, id) ON DELETE RESTRICT,
  CONSTRAINT queues_fallback FOREIGN KEY (account_id, fallback_queue_id)
    REFERENCES queues (account_id, id) ON DELETE RESTRICT
);
CREATE INDEX queues_by_site ON queues (site_id, created_at, id);
CREATE INDEX queues_by_policy ON queues (scheduling_policy_id) WHERE scheduling_policy_id IS NOT NULL;
CREATE INDEX queues_by_fallback ON queues (fallback_queue_id) WHERE fallback_queue_id IS NOT NULL;

-- The teams of a queue's routing policy, so that a team in use cannot be deleted.
CREATE TABLE queue_teams (
  account_id uuid NOT NULL,
  queue_id   uuid NOT NULL,
  team_id    uuid NOT NULL REFERENCES teams ON DELETE RESTRICT,
  PRIMARY KEY (queue_id, team_id),
  FOREIGN KEY (account_id, queue_id) REFERENCES queues (account_id, id) ON DELETE CASCADE
);
CREATE INDEX queue_teams_by_team ON queue_teams (team_id);

CREATE TABLE queue_rankings (
  account_id  uuid     NOT NULL,
  queue_id    uuid     NOT NULL,
  operator_id uuid     NOT NULL,
  rank        smallint NOT NULL CHECK (rank BETWEEN 1 AND 10),
  PRIMARY KEY (queue_id, operator_id),
  FOREIGN KEY (account_id, queue_id) REFERENCES queues (account_id, id) ON DELETE CASCADE,
  FOREIGN KEY (account_id, operator_id) REFERENCES operators (account_id, id) ON DELETE CASCADE
);

CREATE TABLE phone_channels (
  id         uuid           PRIMARY KEY,
  account_id uuid           NOT NULL,
  site_id    uuid           NOT NULL,
  number     text           NOT NULL,
  queue_id   uuid           NOT NULL,
  version    integer        NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (account_id, site_id) REFERENCES sites (account_id, id),
  CONSTRAINT phone_channels_queue FOREIGN KEY (account_id, queue_id) REFERENCES queues (account_id, id) ON DELETE RESTRICT,
  CONSTRAINT phone_channels_number UNIQUE (account_id, number)
);
CREATE INDEX phone_channels_by_queue ON phone_channels (queue_id);
CREATE INDEX phone_channels_by_site ON phone_channels (site_id, created_at, id);

CREATE TABLE digital_channels (
  id         uuid           PRIMARY KEY,
  account_id uuid           NOT NULL,
  site_id    uuid           NOT NULL,
  kind       text           NOT NULL,
  address    text           NOT NULL,
  queue_id   uuid           NOT NULL,
  version    integer        NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (account_id, site_id) REFERENCES sites (account_id, id),
  CONSTRAINT digital_channels_queue FOREIGN KEY (account_id, queue_id) REFERENCES queues (account_id, id) ON DELETE RESTRICT,
  CONSTRAINT digital_channels_address UNIQUE (account_id, kind, address)
);
CREATE INDEX digital_channels_by_queue ON digital_channels (queue_id);
CREATE INDEX digital_channels_by_site ON digital_channels (site_id, created_at, id);

-- Visitors who wait, or have waited. A ticket stands in one or more queues while it is waiting or under offer.
CREATE TABLE queue_tickets (
  id               uuid           PRIMARY KEY,
  account_id       uuid           NOT NULL,
  site_id          uuid           NOT NULL,
  visitor_id       uuid           NOT NULL REFERENCES visitors,
  media            text           NOT NULL CHECK (media IN ('text', 'phone', 'audio', 'video')),
  state            text           NOT NULL
                   CHECK (state IN ('waiting', 'offered', 'engaged', 'canceled', 'visitor_left', 'unstaffed', 'expired')),
  engaged_queue_id uuid,
  enqueued_at      timestamptz(3) NOT NULL DEFAULT now(),
  engaged_at       timestamptz(3),
  created_at       timestamptz(3) NOT NULL DEFAULT now(),
  updated_at       timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (account_id, site_id) REFERENCES sites (account_id, id)
);
CREATE UNIQUE INDEX queue_tickets_one_active ON queue_tickets (site_id, visitor_id) WHERE state IN ('waiting', 'offered');
-- The last hundred waits of a queue.
CREATE INDEX queue_tickets_engaged ON queue_tickets (engaged_queue_id, engaged_at DESC) WHERE state = 'engaged';

-- Where active tickets stand; a row goes when its ticket is no longer waiting or under offer.
CREATE TABLE queue_places (
  account_id uuid NOT NULL,
  queue_id   uuid NOT NULL,
  ticket_id  uuid NOT NULL REFERENCES queue_tickets ON DELETE CASCADE,
  PRIMARY KEY (queue_id, ticket_id),
  CONSTRAINT queue_places_queue FOREIGN KEY (account_id, queue_id) REFERENCES queues (account_id, id) ON DELETE RESTRICT
);
CREATE INDEX queue_places_by_ticket ON queue_places (ticket_id);

-- The status of queues depends on all of this. It is announced by account, because a fallback may be on another site.
CREATE TRIGGER tell_queues AFTER INSERT OR UPDATE OR DELETE ON queues FOR EACH ROW
  EXECUTE FUNCTION tell_change('queues_of_account', 'account_id');
CREATE TRIGGER tell_queues AFTER INSERT OR UPDATE OR DELETE ON scheduling_policies FOR EACH ROW
  EXECUTE FUNCTION tell_change('queues_of_account', 'account_id');
CREATE TRIGGER tell_queues AFTER INSERT OR DELETE ON queue_places FOR EACH ROW
  EXECUTE FUNCTION tell_change('queues_of_account', 'account_id');
CREATE TRIGGER tell_queues AFTER UPDATE OF state ON queue_tickets FOR EACH ROW
  WHEN (NEW.state = 'engaged') EXECUTE FUNCTION tell_change('queues_of_account', 'account_id');
CREATE TRIGGER tell_queues AFTER INSERT OR UPDATE OR DELETE ON operator_assignments FOR EACH ROW
  EXECUTE FUNCTION tell_change('queues_of_account', 'account_id');
CREATE TRIGGER tell_queues AFTER INSERT OR DELETE ON operator_teams FOR EACH ROW
  EXECUTE FUNCTION tell_change('queues_of_account', 'account_id');
CREATE TRIGGER tell_queues AFTER UPDATE OF enabled, available, media, presence_expires_at ON operators FOR EACH ROW
  WHEN ((OLD.enabled, OLD.available, OLD.media, OLD.presence_expires_at)
        IS DISTINCT FROM (NEW.enabled, NEW.available, NEW.media, NEW.presence_expires_at))
  EXECUTE FUNCTION tell_change('queues_of_account', 'account_id');
