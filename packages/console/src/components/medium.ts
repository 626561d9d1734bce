import type { Medium } from '@usher/contract/media';
import { texts } from './texts.ts';

/** `Text`: the name of a medium as it is shown. */
export function mediumName(medium: Medium): string {
  return texts.media[medium];
}
