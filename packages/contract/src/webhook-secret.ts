/** A secret that requests of a webhook are signed with, as Standard Webhooks spells it: `whsec_` and base64. */

export const secretPrefix = 'whsec_';
export const secretSizes = { leastBytes: 24, mostBytes: 64 } as const;

/** As much of the rule as a JSON Schema can say. */
export const secretShape = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/;

/** `null`: it is a secret. */
export function secretFault(secret: string): string | null {
  const { leastBytes, mostBytes } = secretSizes;
  const text = secret.slice(secretPrefix.length).replaceAll('=', '');
  const length = Math.floor((text.length * 3) / 4);
  const isSecret = secretShape.test(secret) && isExact(text) && length >= leastBytes && length <= mostBytes;
  return isSecret ? null : `must be ${secretPrefix} and base64 of ${leastBytes} to ${mostBytes} bytes`;
}

/** Whether the text, without its padding, is how its bytes are written: base64 may leave bits over at its end. */
function isExact(text: string): boolean {
  return text.length % 4 !== 1 && btoa(atob(text)).replaceAll('=', '') === text;
}
