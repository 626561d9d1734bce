-- additive
-- An account can be moved to another installation (docs/guide/moving-accounts.md).

-- Since when the account is being moved: from then on no process sends webhooks or SMS for it, and soon its rows are fenced.
ALTER TABLE accounts ADD COLUMN moving_at timestamptz(3);
-- Every process learns of it at once.
CREATE TRIGGER tell_moving AFTER UPDATE OF moving_at ON accounts FOR EACH ROW
  WHEN (OLD.moving_at IS DISTINCT FROM NEW.moving_at) EXECUTE FUNCTION tell_change('accounts', 'id');

-- The trigger of a fenced account (account-moving/fence-store.ts). It is created for the rows of one account in every table, and refuses
-- every change of them, so that a copy of the account stays complete, whatever a process may have begun before. The argument is the
-- column with the account's id.
--
-- Once the account is disabled, the refusal must not fail statements that are about rows of all accounts: rows are left as they are then,
-- and old rows may be deleted. A new row is refused even so, because somebody would learn that it is stored. The administrator may
-- disable the account at any time.
CREATE FUNCTION refuse_moving() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  account uuid := to_jsonb(coalesce(NEW, OLD)) ->> TG_ARGV[0];
BEGIN
  IF TG_TABLE_NAME = 'accounts' AND current_setting('usher.passes_fence', true) = 'on' THEN RETURN coalesce(NEW, OLD); END IF;
  IF TG_OP <> 'INSERT' AND EXISTS (SELECT FROM accounts WHERE id = account AND disabled_at IS NOT NULL) THEN
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'the account is being moved to another installation' USING ERRCODE = 'UM001';
END $$;

-- The public keys of the installation that an account came from. They verify tokens of that account only, and sign none. They are dropped
-- when every token that they signed has expired.
CREATE TABLE imported_signing_keys (
  account_id  uuid           NOT NULL REFERENCES accounts,
  id          text           NOT NULL,
  public_jwk  jsonb          NOT NULL,
  imported_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (account_id, id)
);
CREATE TRIGGER tell AFTER INSERT OR DELETE ON imported_signing_keys FOR EACH ROW EXECUTE FUNCTION tell_change('signing_keys', 'id');
