import { ProblemError, Unreachable } from '@usher/client/problem';

/** Why something failed, for visitors: what the server says of it is for developers. */
export function reasonOf(error: unknown): string {
  if (error instanceof Unreachable) return "We can't be reached right now. Please check your connection and try again.";
  return (error instanceof ProblemError ? byCode[error.code] : undefined) ?? 'Something went wrong. Please try again.';
}

const later = "This isn't possible right now. Please try again later.";
const tooFast = 'That was too much at once. Please try again in a moment.';
const noFiles = "Files can't be sent right now. Please try again later.";

const byCode: Readonly<Record<string, string | undefined>> = {
  engagement_ended: 'The conversation has ended.',
  invalid_request: "This can't be sent.",
  body_too_large: 'This is too large to be sent.',
  too_many: 'No more files can be sent in this conversation.',
  forbidden: "This isn't possible here.",
  file_deleted: 'This file has been deleted.',
  file_not_clean: "This file can't be downloaded.",
  file_elsewhere: "This file can't be downloaded right now. Please try again later.",
  operator_unavailable: later,
  request_ended: 'This is no longer possible.',
  rate_limited: tooFast,
  address_limit: tooFast,
  too_busy: later,
  database_unavailable: later,
  no_scanner: noFiles,
  storage_full: noFiles,
  storage_unavailable: noFiles,
  insufficient_storage: later,
};
