import { fixedHeader, providedHeader, type Authorization } from './authorization.ts';
import { subscribe, type FeedResource } from './feed.ts';
import { startCall, type Arguments, type CallOptions } from './operation.ts';
import { operations } from './operations.ts';
import type { Resources } from './resources.ts';
import { keyAuthorization, type KeyCredentials } from './sign-in.ts';
import { Transport, type TransportOptions } from './transport.ts';
import { uploadFile, type UploadResource } from './upload.ts';

export type * from './api-types.ts';
export type { Answer, Call, PagedCall } from './call.ts';
export type { ErrorCode } from './error-code.ts';
export { UsherError, UsherUnreachable } from './errors.ts';
export type { FeedState, SubscribedItem, SubscribeOptions } from './feed.ts';
export type { CallOptions } from './operation.ts';
export type { Resources } from './resources.ts';
export type { UploadArguments, UploadOptions } from './upload.ts';

/** Who the client is. None of them: only the operations that need no token. */
type Credentials =
  | KeyCredentials
  /** A token of an operator or a visitor, or an access token. */
  | { readonly token: string }
  /** A token of an application, which creates visitors. */
  | { readonly applicationToken: string }
  /** Provides the Authorization header of each request. After a 401 it is called again. */
  | { readonly authorization: () => string | Promise<string> }
  | Readonly<Record<never, never>>;

export type UsherOptions = TransportOptions & Credentials;

/** A client of Usher: `usher.queues.list({ siteIds })`. */
export interface Usher extends Omit<Resources, 'files'> {
  readonly files: Resources['files'] & UploadResource;
  readonly feed: FeedResource;
}

/** Makes a client. It sends nothing until it is used, and there is nothing to close. */
export function createUsher(options: UsherOptions): Usher {
  const transport = new Transport(options, authorizationOf(options));
  const resources = Object.entries(operations).map(([resource, methods]) => [
    resource,
    Object.fromEntries(
      Object.entries(methods).map(([name, operation]) => [
        name,
        (args?: Arguments, callOptions?: CallOptions) => startCall(transport, operation, args, callOptions),
      ]),
    ),
  ]);
  const generated = Object.fromEntries(resources) as Resources;
  return {
    ...generated,
    files: { ...generated.files, upload: (...args) => uploadFile(transport, ...args) },
    feed: { subscribe: (...args) => subscribe(transport, ...args) },
  };
}

function authorizationOf(options: UsherOptions): Authorization {
  if ('key' in options) return keyAuthorization(options);
  if ('token' in options) return fixedHeader(`Bearer ${options.token}`);
  if ('applicationToken' in options) return fixedHeader(`ApplicationToken ${options.applicationToken}`);
  if ('authorization' in options) return providedHeader(options.authorization);
  return fixedHeader(null);
}
