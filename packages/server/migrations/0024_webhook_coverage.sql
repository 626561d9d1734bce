-- Which sites a registered webhook hears of, and settings of sites for clients that were written for other services.

-- Who registered the webhook, and who last gave it its URL. Null: it was registered before these columns, and the audit log does
-- not tell by whom, or it comes with the sample data; such a webhook hears of the sites it names, or of all.
ALTER TABLE webhooks ADD COLUMN registered_by uuid;
ALTER TABLE webhooks ADD COLUMN url_set_by uuid;
-- The sites the webhook hears of now; null: every site of the account. The triggers below keep it true, so that the statement
-- that writes an event has one array to look into.
ALTER TABLE webhooks ADD COLUMN covers uuid[];
-- Every site that a webhook with a registrar has heard of: its log tells of them all. Whoever is not the registrar must be
-- super_manager of each, also once the webhook names fewer sites.
ALTER TABLE webhooks ADD COLUMN has_covered uuid[];
-- Whoever sends looks at what is covered, so it is told as the rest of a webhook is.
DROP TRIGGER tell ON webhooks;
CREATE TRIGGER tell AFTER DELETE OR UPDATE OF destination_id, url, method, headers, events, hears, messages, site_ids,
  ordering, secret, old_secret, old_secret_until, enabled, deleted_at, covers ON webhooks FOR EACH ROW
  EXECUTE FUNCTION tell_change('webhooks', 'id');
-- The webhook of the sample data does not count among the ten of the account.
ALTER TABLE webhooks ADD COLUMN is_sample boolean NOT NULL DEFAULT false;

UPDATE webhooks SET covers = site_ids WHERE side IS NULL AND site_ids IS NOT NULL;
UPDATE webhooks w SET is_sample = true FROM sample_data s WHERE s.webhook_id = w.id;
-- What a change of roles looks for.
CREATE INDEX webhooks_by_registrar ON webhooks (registered_by) WHERE registered_by IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX webhooks_by_url_setter ON webhooks (url_set_by) WHERE url_set_by IS NOT NULL AND deleted_at IS NULL;

-- A webhook hears of a site while its registrar is super_manager there, and so is whoever gave it its URL. `named` are the
-- sites it was limited to; null: none.
CREATE FUNCTION covered_sites(named uuid[], registrar uuid, url_setter uuid) RETURNS uuid[] LANGUAGE sql STABLE AS $$
  SELECT CASE
           WHEN registrar IS NULL THEN named
           ELSE ARRAY(SELECT a.site_id
                        FROM operator_assignments a
                        JOIN operators o ON o.id = a.operator_id AND o.enabled
                       WHERE a.operator_id = registrar AND a.role = 'super_manager'
                         AND (named IS NULL OR a.site_id = ANY(named))
                         AND (url_setter IS NULL OR url_setter = registrar
                              OR EXISTS (SELECT 1
                                           FROM operator_assignments b
                                           JOIN operators p ON p.id = b.operator_id AND p.enabled
                                          WHERE b.operator_id = url_setter AND b.site_id = a.site_id
                                            AND b.role = 'super_manager'))
                       ORDER BY a.site_id)
         END
$$;

CREATE FUNCTION united_sites(before uuid[], more uuid[]) RETURNS uuid[] LANGUAGE sql IMMUTABLE AS $$
  SELECT ARRAY(SELECT DISTINCT unnest(coalesce(before, '{}') || more) ORDER BY 1)
$$;

-- The sites that somebody who has not registered the webhook must be super_manager of; null: all of the account. A webhook that
-- never heard of a site is as one that may hear of any.
CREATE FUNCTION webhook_reach(named uuid[], has_covered uuid[]) RETURNS uuid[] LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN has_covered IS NULL THEN named ELSE nullif(united_sites(has_covered, named), '{}') END
$$;

-- A webhook that is written. The operators are held first: each statement of this function sees what was committed before the
-- statement, so that a change of roles is either seen here, or waits and then finds the webhook.
CREATE FUNCTION cover_written_webhook() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM operators WHERE id IN (NEW.registered_by, NEW.url_set_by) ORDER BY id FOR SHARE;
  NEW.covers := covered_sites(NEW.site_ids, NEW.registered_by, NEW.url_set_by);
  IF NEW.registered_by IS NOT NULL THEN NEW.has_covered := united_sites(NEW.has_covered, NEW.covers); END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER cover BEFORE INSERT OR UPDATE OF site_ids, registered_by, url_set_by ON webhooks FOR EACH ROW
  WHEN (NEW.side IS NULL) EXECUTE FUNCTION cover_written_webhook();

-- The webhooks of operators whose roles have changed. Operators and webhooks are held before the sites are looked up, for the
-- same reason: of two changes at once the second sees both.
CREATE FUNCTION cover_webhooks_of(changed uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  found_ids uuid[];
BEGIN
  PERFORM 1 FROM operators WHERE id = ANY(changed) ORDER BY id FOR NO KEY UPDATE;
  found_ids := ARRAY(SELECT id FROM webhooks WHERE registered_by = ANY(changed) AND deleted_at IS NULL
                     UNION
                     SELECT id FROM webhooks WHERE url_set_by = ANY(changed) AND deleted_at IS NULL);
  IF found_ids = '{}' THEN RETURN; END IF;
  PERFORM 1 FROM webhooks WHERE id = ANY(found_ids) ORDER BY id FOR NO KEY UPDATE;
  UPDATE webhooks
     SET covers = covered_sites(site_ids, registered_by, url_set_by),
         has_covered = CASE WHEN registered_by IS NOT NULL
                            THEN united_sites(has_covered, covered_sites(site_ids, registered_by, url_set_by)) END
   WHERE id = ANY(found_ids) AND covers IS DISTINCT FROM covered_sites(site_ids, registered_by, url_set_by);
END $$;

-- Registrations from before these columns: the audit log tells by whom they were made, and who last changed the URL, as far back as
-- it is kept. Of operators who are gone nothing is known; then the webhook stays as it was, or its registrar stands for both. A
-- webhook that would hear of fewer sites than before stays as it was, too: an upgrade must not silence it.
UPDATE webhooks w
   SET registered_by = made.actor_id, url_set_by = coalesce(moved.actor_id, made.actor_id),
       has_covered = heard.site_ids
  FROM webhooks old
 CROSS JOIN LATERAL (
        SELECT coalesce(old.site_ids, ARRAY(SELECT s.id FROM sites s WHERE s.account_id = old.account_id)) AS site_ids) AS heard
 -- Both are served by audit_log_of_target.
 CROSS JOIN LATERAL (
        SELECT l.actor_id
          FROM audit_log l
          JOIN operators o ON o.id = l.actor_id AND o.account_id = l.account_id
         WHERE l.account_id = old.account_id AND l.target_id = old.id::text AND l.action = 'webhook.create'
         LIMIT 1) AS made
  LEFT JOIN LATERAL (
        SELECT l.actor_id
          FROM audit_log l
          JOIN operators o ON o.id = l.actor_id AND o.account_id = l.account_id
         WHERE l.account_id = old.account_id AND l.target_id = old.id::text AND l.action = 'webhook.update'
           AND EXISTS (SELECT 1 FROM json_array_elements(l.changes) AS c WHERE c ->> 'field' = 'url')
         ORDER BY l.seq DESC
         LIMIT 1) AS moved ON true
 WHERE w.id = old.id AND w.side IS NULL AND w.deleted_at IS NULL AND w.registered_by IS NULL AND NOT w.is_sample
   AND heard.site_ids <@ covered_sites(old.site_ids, made.actor_id, coalesce(moved.actor_id, made.actor_id));

CREATE FUNCTION cover_after_assignments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM cover_webhooks_of(ARRAY(SELECT DISTINCT operator_id FROM changed));
  RETURN NULL;
END $$;
CREATE TRIGGER cover_added AFTER INSERT ON operator_assignments REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION cover_after_assignments();
CREATE TRIGGER cover_changed AFTER UPDATE ON operator_assignments REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION cover_after_assignments();
CREATE TRIGGER cover_removed AFTER DELETE ON operator_assignments REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION cover_after_assignments();

CREATE FUNCTION cover_after_enabling() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM cover_webhooks_of(ARRAY[NEW.id]);
  RETURN NULL;
END $$;
CREATE TRIGGER cover_enabled AFTER UPDATE OF enabled ON operators FOR EACH ROW
  WHEN (NEW.enabled IS DISTINCT FROM OLD.enabled) EXECUTE FUNCTION cover_after_enabling();

-- Whose messages an attached webhook hears: also the other side's alone.
ALTER TABLE webhooks DROP CONSTRAINT webhooks_messages_check;
ALTER TABLE webhooks ADD CONSTRAINT webhooks_messages_check CHECK (messages IN ('own', 'other', 'all')) NOT VALID;
ALTER TABLE webhooks VALIDATE CONSTRAINT webhooks_messages_check;
-- What a client that does not say it means by that.
ALTER TABLE sites ADD COLUMN attached_webhook_messages text NOT NULL DEFAULT 'own'
  CHECK (attached_webhook_messages IN ('own', 'other', 'all'));
-- Whether fields and query parameters that are not known are ignored instead of refused.
ALTER TABLE sites ADD COLUMN lenient_requests boolean NOT NULL DEFAULT false;

-- The last request to the destination was not answered in time: requests to it wait for less, until one is answered.
ALTER TABLE destinations ADD COLUMN is_unresponsive boolean NOT NULL DEFAULT false;
