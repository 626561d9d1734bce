-- A site is deleted at once, with all that is set up there: its row goes, so whatever asks for the site finds none. What has happened
-- there may be a lot, and is removed afterwards, a piece at a time (site-deletion/remove-remains.ts), until nothing is left.
CREATE TABLE deleted_sites (
  id         uuid           PRIMARY KEY,
  account_id uuid           NOT NULL REFERENCES accounts ON DELETE CASCADE,
  deleted_at timestamptz(3) NOT NULL DEFAULT now()
);
-- Visitors of the site are no callers any more: every process drops those that it keeps in memory.
CREATE TRIGGER tell AFTER INSERT ON deleted_sites FOR EACH ROW EXECUTE FUNCTION tell_change('deleted_sites', 'id');

-- Visitors outlive their site until they are removed. One who is created while the site is being deleted is removed with the others.
ALTER TABLE visitors DROP CONSTRAINT visitors_account_id_site_id_fkey;
