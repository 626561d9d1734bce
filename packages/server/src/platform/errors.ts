/**
 * Every way Usher says no. The key is the stable code clients may rely on; the status and title go with it.
 * A code is never renamed or given another status.
 */
export const errors = {
  malformed_request: { status: 400, title: 'The request is malformed' },
  malformed_json: { status: 400, title: 'The body is not valid JSON' },
  unauthenticated: { status: 401, title: 'No valid token was presented' },
  invalid_credentials: { status: 401, title: 'The credentials are wrong' },
  no_session: { status: 401, title: 'Nobody is signed in' },
  forbidden: { status: 403, title: 'The caller may not do this' },
  cross_origin: { status: 403, title: 'The request comes from the page of somebody else' },
  wrong_password: { status: 403, title: 'The current password is wrong' },
  not_found: { status: 404, title: 'There is no such resource' },
  invitation_unknown: { status: 404, title: 'There is no such invitation, or no longer' },
  method_not_allowed: { status: 405, title: 'The resource does not support this method' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  email_taken: { status: 409, title: 'Another operator of the account has this e-mail address' },
  operator_disabled: { status: 409, title: 'The operator is disabled' },
  too_many: { status: 409, title: 'There are as many as there may be' },
  policy_in_use: { status: 409, title: 'The scheduling policy is in use' },
  queue_in_use: { status: 409, title: 'The queue is in use' },
  queue_not_empty: { status: 409, title: 'Visitors are waiting in the queue' },
  fallback_cycle: { status: 409, title: 'The fallback queues would form a circle' },
  channel_taken: { status: 409, title: 'Another channel of the account has this number or address' },
  queue_closed: { status: 409, title: 'The queue is closed' },
  queue_unstaffed: { status: 409, title: 'Nobody is there who could serve the visitor' },
  queue_full: { status: 409, title: 'The queue is full' },
  no_matching_queue: { status: 409, title: 'No queue takes such a visitor' },
  ticket_conflict: { status: 409, title: 'The visitor is waiting already, for something else' },
  ticket_ended: { status: 409, title: 'The ticket is no longer active' },
  already_engaged: { status: 409, title: 'The visitor is engaged already' },
  operator_unavailable: { status: 409, title: 'The operator cannot take this now' },
  request_ended: { status: 409, title: 'The request is no longer pending' },
  engagement_ended: { status: 409, title: 'The engagement has ended' },
  message_conflict: { status: 409, title: 'Another message has this id' },
  transfer_pending: { status: 409, title: 'A transfer of the engagement is under way already' },
  provider_name_taken: { status: 409, title: 'Another identity provider of the site has this name' },
  webhook_limit: { status: 409, title: 'The account has as many webhooks as it may' },
  webhook_disabled: { status: 409, title: 'The webhook is disabled' },
  webhook_unsigned: { status: 409, title: 'The webhook sends push notifications, which are not signed' },
  domain_taken: { status: 409, title: 'The SIP domain is taken' },
  team_in_use: { status: 409, title: 'The team is in use' },
  last_super_manager: { status: 409, title: 'A site must keep at least one enabled super_manager' },
  file_not_clean: { status: 409, title: 'The file has not been found clean' },
  already_scanned: { status: 409, title: 'The file has another scan result already' },
  event_expired: { status: 409, title: 'The event is no longer in the log' },
  webhook_deleted: { status: 409, title: 'The webhook has been deleted' },
  scan_not_manual: { status: 409, title: 'Files are not scanned by hand here' },
  site_not_empty: { status: 409, title: 'The site is not empty' },
  site_busy: { status: 409, title: 'Visitors are waiting or talking on the site' },
  last_site: { status: 409, title: 'An account must keep at least one site' },
  sample_site: { status: 409, title: 'The site belongs to the sample data' },
  sample_data_removing: { status: 409, title: 'The sample data is being removed' },
  file_deleted: { status: 410, title: 'The file has been deleted' },
  precondition_failed: { status: 412, title: 'The resource has changed since it was read' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The body has an unsupported content type' },
  invalid_request: { status: 422, title: 'The request breaks a rule' },
  idempotency_key_reused: { status: 422, title: 'The idempotency key was used for another request' },
  rate_limited: { status: 429, title: 'Too many requests' },
  too_many_unresolved_names: { status: 429, title: 'Too many webhooks have names that do not resolve' },
  address_limit: { status: 429, title: 'One address has as much as it may have' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  internal_error: { status: 500, title: 'Something went wrong inside Usher' },
  too_busy: { status: 503, title: 'This process has as much to do as it can' },
  no_carrier: { status: 503, title: 'No carrier for SMS is set up' },
  database_unavailable: { status: 503, title: 'The database does not answer' },
  no_scanner: { status: 503, title: 'Nobody has chosen how files are scanned' },
  storage_full: { status: 503, title: 'There is no room for files' },
  storage_unavailable: { status: 503, title: 'Files cannot be stored or read at the moment' },
  file_elsewhere: { status: 503, title: "The file's bytes are not on this machine" },
  insufficient_storage: { status: 507, title: 'The disk is full' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ErrorCode = keyof typeof errors;

/** One thing that is wrong: where (a JSON pointer into the body, query or path) and why. */
export interface Violation {
  readonly attribute: string;
  readonly detail: string;
}

/** An expected failure: thrown where it is decided, turned into an answer in one place (`problem.ts`). */
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

/** A 422 with every violation that was found. */
export function invalid(violations: readonly Violation[]): Refusal {
  const summary = violations.map(
    ({ attribute, detail }) => `${attribute === '' ? 'The request' : attribute} ${detail}`,
  );
  return new Refusal('invalid_request', `${summary.join('; ')}.`, { details: violations });
}

export function notFound(noun: string, id: string): Refusal {
  return new Refusal('not_found', `There is no ${noun} ${id} that this token can see.`);
}

/** A fault that stops the process at its start or a command of the CLI: one line that says what to do. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
