-- What one person did, and what was done of one kind: few of many entries, which are not to be looked for among all.

CREATE INDEX audit_log_of_actor ON audit_log (account_id, actor_id, seq);
CREATE INDEX audit_log_of_action ON audit_log (account_id, action, seq);
