/** What a widget can do; a call to a telephone it cannot. */
export const ourMedia = ['text', 'audio', 'video'] as const;
export type Medium = (typeof ourMedia)[number];
