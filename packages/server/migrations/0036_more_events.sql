-- additive
-- Which of the subscribed events a webhook is sent: as the request gave it, and compiled. null: all of them.
ALTER TABLE webhooks ADD COLUMN filter json;
ALTER TABLE webhooks ADD COLUMN filter_path jsonpath;

-- The event types on demand that registered webhooks of the account subscribe. A turn reads this row anyway.
ALTER TABLE accounts ADD COLUMN on_demand text[] NOT NULL DEFAULT '{}';

-- What was last reported of a queue or an operator, while a webhook subscribes to queue.status or operator.presence: an event says
-- how the state differs from this one.
CREATE TABLE reported_states (
  account_id uuid NOT NULL,
  id         uuid NOT NULL,
  kind       text NOT NULL CHECK (kind IN ('queue', 'operator')),
  state      text NOT NULL,
  PRIMARY KEY (account_id, id)
);

-- Raises the version of the account's board and makes a turn due. `things`: what other processes must read again.
CREATE FUNCTION raise_board(account uuid, things jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  before bigint;
  raised bigint;
BEGIN
  SELECT board_version INTO before FROM accounts WHERE id = account FOR NO KEY UPDATE;
  UPDATE accounts
     SET board_version = next_board_version(board_version, board_tag), next_due_at = least(next_due_at, now()),
         board_tag = (SELECT tag FROM log_epoch_in_force)
   WHERE id = account
  RETURNING board_version INTO raised;
  INSERT INTO board_moves (account_id, version, previous, things) VALUES (account, raised, before, things);
  PERFORM pg_notify('usher_changes', 'boards:' || account);
END $$;

CREATE OR REPLACE FUNCTION move_board() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  moved jsonb := to_jsonb(coalesce(NEW, OLD));
BEGIN
  PERFORM raise_board((moved ->> 'account_id')::uuid,
                      jsonb_build_object(TG_ARGV[0], jsonb_build_array(moved ->> TG_ARGV[1])));
  RETURN NULL;
END $$;
