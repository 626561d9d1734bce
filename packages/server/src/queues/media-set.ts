import { media as allMedia, type Medium } from '@usher/contract/media';

/** A set of media as bits: bit n is the n-th medium of the contract. Sets are united and compared for every queue of a site. */
export type MediaSet = number;

export const mediaSetCount = 2 ** allMedia.length;

const bitOf = new Map(allMedia.map((medium, n) => [medium, 1 << n]));

export function mediaSetOf(media: readonly Medium[]): MediaSet {
  let set = 0;
  for (const medium of media) set |= bitOf.get(medium) ?? 0;
  return set;
}

const members = Array.from({ length: mediaSetCount }, (_, set): readonly Medium[] =>
  allMedia.filter((_medium, n) => (set & (1 << n)) !== 0),
);

/** The media of the set, in their usual order. */
export function mediaIn(set: MediaSet): readonly Medium[] {
  return members[set] ?? [];
}
