import type { Medium as AnyMedium } from '@usher/contract/media';

/** The media that the widget supports: all but `phone`. */
export const widgetMedia = ['text', 'audio', 'video'] as const satisfies readonly AnyMedium[];
export type Medium = (typeof widgetMedia)[number];
