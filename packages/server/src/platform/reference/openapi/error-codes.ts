import { errors, type ErrorCode } from '../../errors.ts';
import type { ApiOperation } from './model.ts';

/** Errors that any operation can answer. */
const always: readonly ErrorCode[] = [
  'malformed_request',
  // For an unknown query parameter.
  'invalid_request',
  'rate_limited',
  'internal_error',
  'too_busy',
  'account_moving',
  'database_unavailable',
  'insufficient_storage',
];
const guarded: readonly ErrorCode[] = ['unauthenticated', 'forbidden', 'account_disabled'];
/** A body is read and refused before the operation ignores it. Only GET requests have none. */
const withBody: readonly ErrorCode[] = [
  'malformed_json',
  'request_timeout',
  'body_too_large',
  'unsupported_media_type',
];

/** What single operations can answer beside what follows from their parts. Tests fail if an operation answers anything else. */
const own: Readonly<Record<string, readonly ErrorCode[]>> = {
  'POST /operator_authentication/tokens': ['invalid_credentials'],
  'POST /sites/tokens': ['invalid_credentials'],
  'POST /operator_authentication/sessions': ['invalid_credentials', 'cross_origin'],
  'POST /operator_authentication/sessions/current/token': ['no_session', 'cross_origin'],
  'POST /operators/{operator_id}/invitations': ['operator_disabled'],
  'POST /operator_authentication/invitations/preview': ['invitation_unknown'],
  'POST /operator_authentication/invitations/accept': ['cross_origin', 'invitation_unknown'],
  'PUT /operator_authentication/password': ['wrong_password'],
  'POST /operators/{operator_id}/api_keys': ['too_many'],
  'POST /operators/{operator_id}/access_tokens': ['too_many'],
  'POST /sites/{site_id}/application_tokens': ['too_many'],
  'PATCH /sites/{site_id}': ['precondition_failed'],
  'DELETE /sites/{site_id}': ['site_not_empty', 'site_busy', 'last_site', 'sample_site'],
  'PATCH /teams/{team_id}': ['precondition_failed'],
  'DELETE /teams/{team_id}': ['team_in_use', 'precondition_failed'],
  'POST /operators': ['email_taken'],
  'PATCH /operators/{operator_id}': ['email_taken', 'last_super_manager', 'precondition_failed'],
  'DELETE /operators/{operator_id}': ['last_super_manager', 'precondition_failed'],
  'POST /visitors': ['address_limit'],
  'GET /visitor': ['not_found'],
  'PATCH /sites/{site_id}/visitors/{visitor_id}': ['precondition_failed'],
  'PUT /queues/scheduling_policies/{scheduling_policy_id}': ['precondition_failed'],
  'DELETE /queues/scheduling_policies/{scheduling_policy_id}': ['policy_in_use', 'precondition_failed'],
  'PUT /queues/{queue_id}': ['fallback_cycle', 'precondition_failed'],
  'DELETE /queues/{queue_id}': ['queue_in_use', 'queue_not_empty', 'precondition_failed'],
  'PATCH /queues/{queue_id}/rankings': ['precondition_failed'],
  'POST /phone_channels': ['channel_taken'],
  'PATCH /phone_channels/{channel_id}': ['channel_taken', 'precondition_failed'],
  'DELETE /phone_channels/{channel_id}': ['precondition_failed'],
  'POST /digital_channels': ['channel_taken'],
  'PATCH /digital_channels/{channel_id}': ['channel_taken', 'precondition_failed'],
  'DELETE /digital_channels/{channel_id}': ['precondition_failed'],
  'POST /queue_tickets': [
    'queue_closed',
    'queue_unstaffed',
    'queue_full',
    'no_matching_queue',
    'ticket_conflict',
    'already_engaged',
    'too_many_unresolved_names',
    'address_limit',
  ],
  'PATCH /queue_tickets/{ticket_id}': ['ticket_ended'],
  'POST /engagement_requests': [
    'already_engaged',
    'operator_unavailable',
    'too_many_unresolved_names',
    'address_limit',
  ],
  'PATCH /engagement_requests/{request_id}': ['already_engaged', 'operator_unavailable', 'request_ended'],
  'POST /outbound_sms': ['too_many', 'no_carrier'],
  'PATCH /engagements/{engagement_id}': ['engagement_ended'],
  'POST /engagements/{engagement_id}/events': ['engagement_ended'],
  'POST /transfer_requests': ['operator_unavailable', 'engagement_ended', 'transfer_pending'],
  'PATCH /transfer_requests/{request_id}': ['operator_unavailable', 'request_ended', 'engagement_ended'],
  'POST /transfer_tickets': [
    'queue_closed',
    'queue_unstaffed',
    'queue_full',
    'no_matching_queue',
    'engagement_ended',
    'transfer_pending',
  ],
  'PATCH /transfer_tickets/{ticket_id}': ['ticket_ended', 'engagement_ended'],
  'PUT /engagements/{engagement_id}/chat_messages/{message_id}': [
    'engagement_ended',
    'message_conflict',
    'file_not_clean',
  ],
  'PATCH /engagements/{engagement_id}/chat_messages/{message_id}': ['engagement_ended'],
  'POST /engagements/{engagement_id}/system_messages': ['engagement_ended'],
  'POST /engagements/{engagement_id}/media_upgrade_requests': ['operator_unavailable', 'engagement_ended'],
  'PATCH /engagements/{engagement_id}/media_upgrade_requests/{upgrade_id}': ['operator_unavailable', 'request_ended'],
  'GET /feed': ['address_limit'],
  'POST /engagements/{engagement_id}/files': [
    'too_many',
    'engagement_ended',
    'address_limit',
    'no_scanner',
    'storage_full',
    'storage_unavailable',
  ],
  'GET /engagements/{engagement_id}/files/{file_id}': [
    'file_not_clean',
    'file_deleted',
    'range_not_satisfiable',
    'storage_unavailable',
    'file_elsewhere',
  ],
  'DELETE /engagements/{engagement_id}/files/{file_id}': ['engagement_ended'],
  'PUT /files/{file_id}/security_scan': ['already_scanned', 'scan_not_manual', 'file_deleted'],
  'POST /sites/{site_id}/visitor_authentication_providers': ['too_many', 'provider_name_taken'],
  'POST /visitor_authentication/requests': ['too_many'],
  'POST /sip_domains': ['too_many', 'domain_taken'],
  'POST /webhooks': ['webhook_limit'],
  'PUT /webhooks/{webhook_id}': ['webhook_limit', 'precondition_failed'],
  'DELETE /webhooks/{webhook_id}': ['precondition_failed'],
  'POST /webhooks/{webhook_id}/rotate_secret': ['webhook_unsigned'],
  'POST /webhooks/{webhook_id}/test': ['webhook_disabled'],
  'POST /deliveries/{delivery_id}/replay': ['webhook_disabled', 'event_expired', 'webhook_deleted'],
  'POST /webhooks/{webhook_id}/recover': ['too_many', 'webhook_disabled', 'webhook_deleted'],
  'POST /sample_data': ['sample_data_removing'],
  'PATCH /sample_data': ['not_found', 'sample_data_removing'],
};

/** The codes of the errors that an operation can answer, ordered by status. */
export function errorCodesOf(method: string, path: string, operation: ApiOperation): readonly ErrorCode[] {
  const { security = [], parameters = [], requestBody } = operation;
  // A request that names a thing which does not exist, or which the token cannot see, is answered with 404.
  const namesThings = /"\w+_ids?"/.test(JSON.stringify([parameters, requestBody ?? null]));
  const codes = new Set<ErrorCode>([
    ...always,
    ...(security.length === 0 ? [] : guarded),
    ...(method === 'GET' ? [] : withBody),
    ...(namesThings ? (['not_found'] as const) : []),
    ...(method === 'POST' && security.length > 0 ? (['idempotency_key_reused'] as const) : []),
    ...(own[`${method} ${path}`] ?? []),
  ]);
  const order = Object.keys(errors);
  return [...codes].toSorted((one, other) => order.indexOf(one) - order.indexOf(other));
}
