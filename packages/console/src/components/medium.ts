import type { Medium } from '@usher/contract/media';

/** `Text`: the name of a medium as it is shown. */
export function mediumName(medium: Medium): string {
  return medium.charAt(0).toUpperCase() + medium.slice(1);
}
