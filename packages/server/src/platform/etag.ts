import type { FastifyRequest } from 'fastify';
import { Refusal } from './errors.ts';

/** A resource's version as an entity tag. */
export function etag(version: number): string {
  return `"${version}"`;
}

/** Versions are stored as integers of four bytes: no greater number is one. */
const mostVersion = 2 ** 31 - 1;

/**
 * The versions an `If-Match` header accepts: `null` where any will do. The store puts it into its WHERE, so that the check
 * and the change are one statement.
 */
export function ifMatch(request: FastifyRequest): readonly number[] | null {
  const header = request.headers['if-match'];
  if (header === undefined || header.trim() === '*') return null;
  const tags = header.split(',').map((tag) => /^\s*((?:W\/)?"[^"]*")\s*$/.exec(tag)?.[1]);
  if (tags.includes(undefined)) {
    throw new Refusal(
      'malformed_request',
      'If-Match must be * or a list of quoted entity tags, as the ETag header gives them.',
    );
  }
  // Ours are strong and hold a version; a tag that is neither matches nothing.
  return tags
    .flatMap((tag = '') => (/^"[1-9]\d{0,9}"$/.test(tag) ? Number(tag.slice(1, -1)) : []))
    .filter((version) => version <= mostVersion);
}

export function preconditionFailed(current: number): Refusal {
  return new Refusal(
    'precondition_failed',
    `The resource has changed; its ETag is ${etag(current)} now. Read it again and repeat.`,
    {
      headers: { etag: etag(current) },
    },
  );
}
