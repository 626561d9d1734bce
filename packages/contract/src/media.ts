/** Media of an engagement, lowest first. An upgrade goes from a lower to a higher one. */
export const media = ['text', 'phone', 'audio', 'video'] as const;
export type Medium = (typeof media)[number];

/** Media that Usher connects as calls and whose duration it knows. Phone calls are connected elsewhere. */
const calls = ['audio', 'video'] as const satisfies readonly Medium[];
export type CallMedium = (typeof calls)[number];

export function isCall(medium: Medium): medium is CallMedium {
  return calls.some((call) => call === medium);
}

/** A value for each medium. */
export function perMedium<Value>(valueOf: (medium: Medium, index: number) => Value): Record<Medium, Value> {
  return Object.fromEntries(media.map((medium, index) => [medium, valueOf(medium, index)])) as Record<Medium, Value>;
}
