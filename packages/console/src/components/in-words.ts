import { ProblemError } from '@usher/client/problem';
import { texts } from './texts.ts';

/** What went wrong, as it is shown: the server's own words, with each field that was wrong. */
export function inWords(error: unknown): string {
  if (error instanceof ProblemError && error.details.length > 0) {
    return error.details
      .map(({ attribute, detail }) => `${attribute.slice(1).replaceAll('/', ' › ')} ${detail}`)
      .join('; ');
  }
  return error instanceof Error ? error.message : texts.somethingWentWrong;
}
