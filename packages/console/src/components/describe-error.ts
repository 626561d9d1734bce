import { UsherError } from '@usher/sdk/errors';
import { texts } from './texts.ts';

/** The text of an error: the server's message, with each invalid field. */
export function describeError(error: unknown): string {
  if (error instanceof UsherError && error.details.length > 0) {
    return error.details
      .map(({ attribute, detail }) => `${attribute.slice(1).replaceAll('/', ' › ')} ${detail}`)
      .join('; ');
  }
  return error instanceof Error ? error.message : texts.somethingWentWrong;
}
