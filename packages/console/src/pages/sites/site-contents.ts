import type { Problem } from '@usher/sdk/api-types';
import { texts } from './texts.ts';

type ContentText = (count: number, amount: string) => string;

/** `3 queues`, `1 team`: what the server names when it refuses to delete a site. Contents unknown to this version are left out. */
export function describeContents(details: Problem['details']): string[] {
  const contents: Readonly<Record<string, ContentText | undefined>> = texts.contents;
  return details.flatMap(({ attribute, detail }) => {
    // The server stops counting at a limit: `more than 10000`.
    const count = Number(/\d+/.exec(detail)?.[0]);
    const amount = detail === String(count) ? detail : texts.moreThan(count);
    return contents[attribute.slice(1)]?.(count, amount) ?? [];
  });
}
