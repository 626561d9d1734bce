-- Large accounts: changes of queues are notified apart from changes of the staff, and engagements are listed by index.

-- `queues_of_account` is sent for both. Presence changes all the time, and must not make processes read thousands of queues again.
-- Processes of the version before ignore this notification.
CREATE TRIGGER tell_settings AFTER INSERT OR UPDATE OR DELETE ON queues FOR EACH ROW
  EXECUTE FUNCTION tell_change('queue_settings', 'account_id');
CREATE TRIGGER tell_settings AFTER INSERT OR UPDATE OR DELETE ON scheduling_policies FOR EACH ROW
  EXECUTE FUNCTION tell_change('queue_settings', 'account_id');

-- GET /engagements, newest first: those of an operator on a site, and those that an operator has transferred.
CREATE INDEX engagements_by_site_and_operator ON engagements (site_id, operator_id, started_at, id);

ALTER TABLE sub_engagements
  -- When its engagement started, which never changes: the order in which engagements are listed.
  ADD COLUMN engagement_started_at timestamptz(3);
UPDATE sub_engagements s SET engagement_started_at = e.started_at FROM engagements e WHERE e.id = s.engagement_id;
CREATE INDEX sub_engagements_of_operator ON sub_engagements (operator_id, engagement_started_at, engagement_id);

-- By a trigger, so that rows of processes of the version before have it, too. A sub-engagement is written when it ends with a
-- transfer, so its engagement is written already.
CREATE FUNCTION keep_engagement_start() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.engagement_started_at :=
    coalesce((SELECT e.started_at FROM engagements e WHERE e.id = NEW.engagement_id), NEW.started_at);
  RETURN NEW;
END $$;
CREATE TRIGGER keep_engagement_start BEFORE INSERT ON sub_engagements FOR EACH ROW
  EXECUTE FUNCTION keep_engagement_start();
