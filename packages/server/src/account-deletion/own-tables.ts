import type { OwnTable } from './store.ts';

/**
 * How the rows of an account are found in each table with an `account_id`: by an index that begins with it, or by the ids of the
 * account's sites, operators and so on, in pages. An index by account in each table would slow down every write for what is done
 * once in the life of an account. `webhook_recoveries` is scanned once by its foreign key, when the account's own row is deleted; it is
 * always small, because recoveries are deleted with the logs. Each table comes before the tables that it references. A test compares
 * the lists with the schema.
 */

/** Deleted with the engagements of the account's sites, by `deleteEngagementsOfSite`. */
export const tablesOfEngagements = [
  'engagements',
  'calls',
  'chat_messages',
  'files',
  'media_upgrade_requests',
  'sub_engagements',
] as const;

/** Deleted by `deleteDeliveries`. */
export const tablesOfDeliveries = ['deliveries', 'delivery_log'] as const;

/**
 * Rows of one batch in tables with the trigger `move_board`. It changes the account's row each time, and PostgreSQL passes all versions of
 * that row from the same transaction: the time for a batch grows with the square of its rows.
 */
export const boardBatch = 100;

/** Tables by whose rows nothing else is found. */
export const leafTables: readonly OwnTable[] = [
  // First, because a recovery that is running writes deliveries until its row is gone.
  { table: 'webhook_recoveries', of: 'webhook' },
  { table: 'sample_data', of: 'account' },
  { table: 'active_engagements', of: 'account' },
  { table: 'queue_tickets', of: 'account', and: 'AND ended_at IS NULL' },
  { table: 'queue_tickets', of: 'site', and: 'AND ended_at IS NOT NULL' },
  { table: 'queue_visits', of: 'queue' },
  { table: 'engagement_requests', of: 'site' },
  { table: 'sms_messages', of: 'site' },
  { table: 'sms_threads', of: 'site' },
  { table: 'visitor_authentication_requests', of: 'site' },
  { table: 'used_id_tokens', of: 'account' },
  { table: 'visitors', of: 'site' },
  { table: 'idempotency_keys', of: 'account' },
  { table: 'event_secrets', of: 'account' },
  { table: 'events', of: 'account' },
  { table: 'audit_log', of: 'account' },

  { table: 'operator_sessions', of: 'operator' },
  { table: 'api_keys', of: 'operator' },
  { table: 'known_devices', of: 'operator' },
  { table: 'operator_access_tokens', of: 'operator' },
  { table: 'operator_invitations', of: 'operator' },
  { table: 'operator_passwords', of: 'operator' },
  { table: 'operator_pictures', of: 'operator' },
  { table: 'sign_in_links', of: 'operator' },
  { table: 'operator_teams', of: 'operator', limit: boardBatch },
  { table: 'operator_assignments', of: 'operator', limit: boardBatch },

  { table: 'application_tokens', of: 'site' },
  { table: 'sip_domains', of: 'site' },
  { table: 'visitor_authentication_providers', of: 'site' },
  { table: 'phone_channels', of: 'account' },
  { table: 'digital_channels', of: 'account' },
  { table: 'queue_rankings', of: 'queue', limit: boardBatch },
  { table: 'queue_states', of: 'queue' },
  { table: 'queue_teams', of: 'queue' },

  // This table is scanned. It is always small: a row is deleted soon after its token would have expired anyway.
  { table: 'revoked_tokens', of: 'account' },
  { table: 'imported_signing_keys', of: 'account' },
];

/** Tables by whose rows others are found, and those that their triggers write. They are deleted when the others are empty. */
export const keyTables: readonly OwnTable[] = [
  { table: 'webhooks', of: 'account' },
  { table: 'destinations', of: 'account' },
  { table: 'queues', of: 'account', limit: boardBatch },
  { table: 'deleted_queues', of: 'site' },
  { table: 'scheduling_policies', of: 'account' },
  { table: 'teams', of: 'account' },
  { table: 'operators', of: 'account' },
  { table: 'sites', of: 'account', limit: boardBatch },
  // This table is scanned, as it is for the ids of the account's sites. It is always small: a row is deleted with what its site leaves.
  { table: 'deleted_sites', of: 'account' },
  { table: 'presence_intervals', of: 'account', and: 'AND ended_at IS NULL' },
  { table: 'presence_intervals', of: 'account', and: 'AND ended_at IS NOT NULL' },
  { table: 'reported_states', of: 'account' },
  { table: 'board_moves', of: 'account' },
];
