-- additive
-- Changes of teams are notified apart from changes of presence (`queues_of_account` is sent for both): presence changes all the time, and
-- must not make processes read the teams of thousands of operators again. Processes of the version before ignore this notification.
CREATE TRIGGER tell_teams AFTER INSERT OR DELETE ON operator_teams FOR EACH ROW
  EXECUTE FUNCTION tell_change('teams_of_operators', 'account_id');
