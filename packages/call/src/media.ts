/** The two sides of an engagement. */
export type Side = 'visitor' | 'operator';

/** What is to be heard and seen, as media upgrades say it. One-way video is the operator's: only the operator is seen. */
export interface Media {
  readonly audio: 'two_way' | null;
  readonly video: 'one_way' | 'two_way' | null;
}

export type Kind = 'audio' | 'video';

export function isWanted({ audio, video }: Media, kind: Kind): boolean {
  return (kind === 'audio' ? audio : video) !== null;
}

export function sends(side: Side, media: Media, kind: Kind): boolean {
  if (kind === 'audio') return media.audio !== null;
  return media.video === 'two_way' || (media.video === 'one_way' && side === 'operator');
}

/** The devices that a side needs for it. */
export function sentBy(side: Side, media: Media): readonly Kind[] {
  return (['audio', 'video'] as const).filter((kind) => sends(side, media, kind));
}

/** What the button says by which somebody comes into a call: which of their devices the click starts. */
export function joinInWords(side: Side, media: Media): string {
  return sends(side, media, 'video') ? 'Join with camera and microphone' : 'Join with microphone';
}
