/**
 * Every error of the API. The key is the stable code that clients may rely on.
 * A code is never renamed and its status never changes; its title may be reworded.
 */
export const errors = {
  malformed_request: { status: 400, title: 'The request is malformed' },
  malformed_json: { status: 400, title: 'The body is not valid JSON' },
  unauthenticated: { status: 401, title: 'The token is missing or invalid' },
  invalid_credentials: { status: 401, title: 'The credentials are incorrect' },
  no_session: { status: 401, title: 'Not signed in' },
  forbidden: { status: 403, title: 'The caller lacks permission' },
  account_disabled: { status: 403, title: 'The account is disabled' },
  cross_origin: { status: 403, title: 'The request comes from a page of another origin' },
  wrong_password: { status: 403, title: 'The current password is incorrect' },
  not_found: { status: 404, title: 'The resource does not exist' },
  invitation_unknown: { status: 404, title: 'The invitation does not exist or has expired' },
  method_not_allowed: { status: 405, title: 'The resource does not support this method' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  email_taken: { status: 409, title: 'Another operator of the account has this e-mail address' },
  operator_disabled: { status: 409, title: 'The operator is disabled' },
  too_many: { status: 409, title: 'The limit is reached' },
  policy_in_use: { status: 409, title: 'The scheduling policy is in use' },
  queue_in_use: { status: 409, title: 'The queue is in use' },
  queue_not_empty: { status: 409, title: 'Visitors are waiting in the queue' },
  fallback_cycle: { status: 409, title: 'The fallback queues form a loop' },
  channel_taken: { status: 409, title: 'Another channel of the account has this number or address' },
  queue_closed: { status: 409, title: 'The queue is closed' },
  queue_unstaffed: { status: 409, title: 'No operator who could serve the visitor is online' },
  queue_full: { status: 409, title: 'The queue is full' },
  no_matching_queue: { status: 409, title: 'No queue accepts this visitor' },
  ticket_conflict: { status: 409, title: 'The visitor already waits with other criteria' },
  ticket_ended: { status: 409, title: 'The ticket is no longer active' },
  already_engaged: { status: 409, title: 'The visitor is already engaged' },
  operator_unavailable: { status: 409, title: 'The operator cannot take this now' },
  request_ended: { status: 409, title: 'The request is no longer pending' },
  engagement_ended: { status: 409, title: 'The engagement has ended' },
  message_conflict: { status: 409, title: 'Another message has this id' },
  transfer_pending: { status: 409, title: 'The engagement is already being transferred' },
  provider_name_taken: { status: 409, title: 'Another identity provider of the site has this name' },
  webhook_limit: { status: 409, title: 'The account has reached its limit of webhooks' },
  webhook_disabled: { status: 409, title: 'The webhook is disabled' },
  webhook_unsigned: { status: 409, title: 'The webhook sends push notifications, which are not signed' },
  domain_taken: { status: 409, title: 'The SIP domain is taken' },
  team_in_use: { status: 409, title: 'The team is in use' },
  last_super_manager: { status: 409, title: 'A site must keep at least one enabled super_manager' },
  file_not_clean: { status: 409, title: 'The file has not passed its scan' },
  already_scanned: { status: 409, title: 'The file already has another scan result' },
  event_expired: { status: 409, title: 'The event is no longer in the log' },
  webhook_deleted: { status: 409, title: 'The webhook has been deleted' },
  scan_not_manual: { status: 409, title: 'Files are not scanned manually on this server' },
  site_not_empty: { status: 409, title: 'The site is not empty' },
  site_busy: { status: 409, title: 'Visitors are waiting or engaged on the site' },
  last_site: { status: 409, title: 'An account must keep at least one site' },
  sample_site: { status: 409, title: 'The site belongs to the sample data' },
  sample_data_removing: { status: 409, title: 'The sample data is being deleted' },
  file_deleted: { status: 410, title: 'The file has been deleted' },
  precondition_failed: { status: 412, title: 'The resource has changed since it was read' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The body has an unsupported content type' },
  range_not_satisfiable: { status: 416, title: 'The file does not have these bytes' },
  invalid_request: { status: 422, title: 'The request is invalid' },
  idempotency_key_reused: { status: 422, title: 'The idempotency key was used for another request' },
  rate_limited: { status: 429, title: 'Too many requests' },
  too_many_unresolved_names: { status: 429, title: 'Too many webhooks have host names that do not resolve' },
  address_limit: { status: 429, title: 'The limit for one IP address is reached' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  internal_error: { status: 500, title: 'Internal error' },
  too_busy: { status: 503, title: 'The server is overloaded' },
  no_carrier: { status: 503, title: 'No SMS carrier is configured' },
  account_moving: { status: 503, title: 'The account is being moved' },
  database_unavailable: { status: 503, title: 'The database is unavailable' },
  no_scanner: { status: 503, title: 'No file scanner is configured' },
  storage_full: { status: 503, title: 'The file storage is full' },
  storage_unavailable: { status: 503, title: 'Files cannot be stored or read right now' },
  file_elsewhere: { status: 503, title: 'The file is stored on another machine' },
  insufficient_storage: { status: 507, title: 'The disk of the database is full' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ErrorCode = keyof typeof errors;

/** One violated rule: `attribute` is a JSON pointer into the body, query or path, `detail` says what is wrong there. */
export interface Violation {
  readonly attribute: string;
  readonly detail: string;
}

/** An expected failure. The code that detects it throws it; `problem.ts` turns it into the response. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: ErrorCode;
  readonly details: readonly Violation[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    detail: string,
    more: { details?: readonly Violation[]; headers?: Record<string, string> } = {},
  ) {
    super(detail);
    this.code = code;
    this.details = more.details ?? [];
    this.headers = more.headers ?? {};
  }
}

/** A 422 with all violations at once (D7.4). */
export function invalid(violations: readonly Violation[]): Refusal {
  const summary = violations.map(
    ({ attribute, detail }) => `${attribute === '' ? 'The request' : attribute} ${detail}`,
  );
  return new Refusal('invalid_request', `${summary.join('; ')}.`, { details: violations });
}

export function notFound(noun: string, id: string): Refusal {
  return new Refusal('not_found', `There is no ${noun} ${id} that this token can see.`);
}

/** An error that ends the start of the server or a CLI command. Its message is one line that says what to do. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
