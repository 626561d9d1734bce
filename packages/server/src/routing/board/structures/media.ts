import { media, perMedium, type Medium } from '@usher/contract/media';

/** A set of media as bits, because matching compares the media of operators and queues all the time. */
export type MediaSet = number;

const bits = perMedium((_, index) => 1 << index);
const indexes = perMedium((_, index) => index);

export function mediaSet(list: readonly Medium[]): MediaSet {
  return list.reduce((set, medium) => set | bits[medium], 0);
}

export function mediaList(set: MediaSet): Medium[] {
  return media.filter((medium) => takes(set, medium));
}

/** The bit of a medium in a set, and its index in `media`. */
export function indexOfMedium(medium: Medium): number {
  return indexes[medium];
}

/** Whether the set has the medium with this index. */
export function hasIndex(set: MediaSet, index: number): boolean {
  return (set & (1 << index)) !== 0;
}

/** The set of one medium. */
export function setOf(medium: Medium): MediaSet {
  return bits[medium];
}

export function takes(set: MediaSet, medium: Medium): boolean {
  return (set & bits[medium]) !== 0;
}

/** Media are in order: text is the lowest, video the highest. */
export function higherMedium(one: Medium, other: Medium): Medium {
  return bits[one] > bits[other] ? one : other;
}

/** The number of possible sets of media, including the empty one. */
export const mediaSets = 1 << media.length;
