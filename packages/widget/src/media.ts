import type { Medium as AnyMedium } from '@usher/contract/media';

/** What a widget can do; a call to a telephone it cannot. */
export const ourMedia = ['text', 'audio', 'video'] as const satisfies readonly AnyMedium[];
export type Medium = (typeof ourMedia)[number];
