-- Large accounts: what is configured is told apart from who is there, and engagements are listed by index.

-- Changes of what is configured about queues, apart from those of the staff, which `queues_of_account` tells along with them: presence
-- changes all the time, and must not make processes read thousands of queues again. Processes of the version before ignore it.
CREATE TRIGGER tell_settings AFTER INSERT OR UPDATE OR DELETE ON queues FOR EACH ROW
  EXECUTE FUNCTION tell_change('queue_settings', 'account_id');
CREATE TRIGGER tell_settings AFTER INSERT OR UPDATE OR DELETE ON scheduling_policies FOR EACH ROW
  EXECUTE FUNCTION tell_change('queue_settings', 'account_id');
