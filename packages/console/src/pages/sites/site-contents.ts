import type { Problem } from '@usher/client/api-types';
import { texts } from './texts.ts';

/** `3 queues`, `1 team`: what the server names when it refuses to delete a site. Contents unknown to this version are left out. */
export function describeContents(details: Problem['details']): string[] {
  const contents: Readonly<Record<string, ((count: number) => string) | undefined>> = texts.contents;
  return details.flatMap(({ attribute, detail }) => contents[attribute.slice(1)]?.(Number(detail)) ?? []);
}
