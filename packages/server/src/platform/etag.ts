import type { FastifyRequest } from 'fastify';
import { Refusal } from './errors.ts';

/** A resource's version as an entity tag. */
export function etag(version: number): string {
  return `"${version}"`;
}

/** Versions are stored as 4-byte integers, so a greater number matches nothing. */
const maxVersion = 2 ** 31 - 1;

/**
 * The versions that an `If-Match` header accepts; `null` accepts any. The store puts them into its WHERE clause, so that the
 * check and the change are one statement.
 */
export function ifMatch(request: FastifyRequest): readonly number[] | null {
  const header = request.headers['if-match'];
  if (header === undefined || header.trim() === '*') return null;
  const tags = header.split(',').map((tag) => /^\s*((?:W\/)?"[^"]*")\s*$/.exec(tag)?.[1]);
  if (tags.includes(undefined)) {
    throw new Refusal('malformed_request', 'If-Match must be * or a list of quoted entity tags as in the ETag header.');
  }
  // Our tags are strong and contain a version; any other tag matches nothing.
  return tags
    .flatMap((tag = '') => (/^"[1-9]\d{0,9}"$/.test(tag) ? Number(tag.slice(1, -1)) : []))
    .filter((version) => version <= maxVersion);
}

export function preconditionFailed(current: number): Refusal {
  return new Refusal(
    'precondition_failed',
    `The resource has changed; its ETag is now ${etag(current)}. Read it and repeat the request.`,
    {
      headers: { etag: etag(current) },
    },
  );
}
