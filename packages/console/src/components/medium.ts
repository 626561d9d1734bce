import type { Engagement } from '@usher/client/api-types';

export type Medium = Engagement['media'];

export const mediumWords: Readonly<Record<Medium, string>> = {
  text: 'Text',
  phone: 'Phone',
  audio: 'Audio',
  video: 'Video',
};

export const media = ['text', 'phone', 'audio', 'video'] as const satisfies readonly Medium[];
