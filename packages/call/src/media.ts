import { callTexts, type CallTexts } from './texts.ts';

/** The two sides of an engagement. */
export type Side = 'visitor' | 'operator';

/** The media of a call, as in media upgrades. In one-way video only the operator is seen. */
export interface Media {
  readonly audio: 'two_way' | null;
  readonly video: 'one_way' | 'two_way' | null;
}

/** The kind of a track, as in WebRTC. */
export type Kind = 'audio' | 'video';

export function hasKind({ audio, video }: Media, kind: Kind): boolean {
  return (kind === 'audio' ? audio : video) !== null;
}

export function sends(side: Side, media: Media, kind: Kind): boolean {
  if (kind === 'audio') return media.audio !== null;
  return media.video === 'two_way' || (media.video === 'one_way' && side === 'operator');
}

/** The kinds of tracks that a side sends, each from a device of its own. */
export function sentBy(side: Side, media: Media): readonly Kind[] {
  return (['audio', 'video'] as const).filter((kind) => sends(side, media, kind));
}

/** The label of the button that joins a call. The label names the devices that the click starts. */
export function joinLabel(side: Side, media: Media, texts: CallTexts = callTexts): string {
  return sends(side, media, 'video') ? texts.joinWithCamera : texts.joinWithMicrophone;
}
