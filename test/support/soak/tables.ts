/** How the rows of each table are bounded. A test fails if a table is missing here. */
type Bound =
  /** One row or a fixed number for each thing that is configured: no row is added by traffic. */
  | 'settings'
  /** Rows of what goes on at the moment: as many as the load, not as the time. */
  | 'current'
  /** A sweep deletes rows after an hour: their number settles only in the second half of a run of two hours. */
  | 'kept for an hour'
  /** A sweep deletes rows after a time that is longer than the run. */
  | 'kept for days'
  /** Kept until its account, site or engagement is deleted. */
  | 'history';

export const boundOf: Readonly<Record<string, Bound>> = {
  accounts: 'settings',
  active_engagements: 'current',
  address_hash_key: 'settings',
  api_keys: 'settings',
  apns_tokens: 'settings',
  application_tokens: 'settings',
  audit_log: 'kept for days',
  board_moves: 'kept for an hour',
  calls: 'history',
  chat_messages: 'history',
  clock: 'settings',
  deleted_queues: 'history',
  deleted_sites: 'kept for an hour',
  deliveries: 'current',
  delivery_log: 'kept for days',
  destinations: 'settings',
  digital_channels: 'settings',
  engagement_requests: 'history',
  engagements: 'history',
  event_secrets: 'kept for days',
  events: 'kept for days',
  files: 'history',
  idempotency_keys: 'kept for days',
  imported_signing_keys: 'kept for days',
  known_devices: 'kept for days',
  log_epoch_begun: 'settings',
  log_epochs: 'settings',
  media_upgrade_requests: 'history',
  migrations: 'settings',
  operator_access_tokens: 'settings',
  operator_assignments: 'settings',
  operator_invitations: 'kept for days',
  operator_passwords: 'settings',
  operator_pictures: 'settings',
  operator_sessions: 'kept for days',
  operator_teams: 'settings',
  operators: 'settings',
  phone_channels: 'settings',
  presence_intervals: 'kept for days',
  queue_rankings: 'settings',
  queue_states: 'settings',
  queue_teams: 'settings',
  queue_tickets: 'history',
  queue_visits: 'history',
  queues: 'settings',
  reported_states: 'settings',
  revoked_tokens: 'kept for days',
  sample_data: 'settings',
  scheduling_policies: 'settings',
  sealing_keys: 'settings',
  sign_in_links: 'kept for days',
  signing_keys: 'settings',
  sip_domains: 'settings',
  sites: 'settings',
  sms_messages: 'history',
  sms_threads: 'history',
  sub_engagements: 'history',
  teams: 'settings',
  used_id_tokens: 'kept for days',
  visitor_authentication_providers: 'settings',
  visitor_authentication_requests: 'kept for days',
  visitors: 'history',
  webhook_recoveries: 'kept for days',
  webhooks: 'settings',
};

/** Partitions are counted with their log. */
export function logOf(table: string): string {
  return table.replace(/_(?:\d{8}|default)$/, '');
}
