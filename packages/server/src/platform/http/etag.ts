import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Refusal } from '../errors.ts';

/** A resource's version as an entity tag. */
export function etag(version: number): string {
  return `"${version}"`;
}

/** The content of a resource without a version of its own as an entity tag: equal contents have equal tags. */
export function contentTag(content: unknown): string {
  return `"${createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 22)}"`;
}

/** Versions are stored as 4-byte integers, so a greater number matches nothing. */
const maxVersion = 2 ** 31 - 1;

/**
 * The versions that an `If-Match` header accepts; `null` accepts any. The store puts them into its WHERE clause, so that the
 * check and the change are one statement.
 */
export function ifMatch(request: FastifyRequest): readonly number[] | null {
  // Our tags are strong and contain a version; any other tag matches nothing.
  return (
    tagsOf(request)
      ?.flatMap((tag) => (/^"[1-9]\d{0,9}"$/.test(tag) ? Number(tag.slice(1, -1)) : []))
      .filter((version) => version <= maxVersion) ?? null
  );
}

/** For a resource with a `contentTag`: refuses unless `If-Match` accepts it. Call this under the lock of the change. */
export function requireTag(request: FastifyRequest, current: string): void {
  const tags = tagsOf(request);
  if (tags !== null && !tags.includes(current)) throw changed(current);
}

export function preconditionFailed(current: number): Refusal {
  return changed(etag(current));
}

/** The entity tags that an `If-Match` header accepts; `null` accepts any. */
function tagsOf({ headers }: FastifyRequest): readonly string[] | null {
  const header = headers['if-match'];
  if (header === undefined || header.trim() === '*') return null;
  return header.split(',').map((text) => {
    const [, tag] = /^\s*((?:W\/)?"[^"]*")\s*$/.exec(text) ?? [];
    if (tag !== undefined) return tag;
    throw new Refusal('malformed_request', 'If-Match must be * or a list of quoted entity tags as in the ETag header.');
  });
}

function changed(tag: string): Refusal {
  return new Refusal(
    'precondition_failed',
    `The resource has changed; its ETag is now ${tag}. Read it and repeat the request.`,
    { headers: { etag: tag } },
  );
}
