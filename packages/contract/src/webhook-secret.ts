/** The secret that signs the requests of a webhook, in the form of Standard Webhooks: `whsec_` and base64. */

export const secretPrefix = 'whsec_';
export const secretSizes = { minBytes: 24, maxBytes: 64 } as const;

/** The part of the rule that a JSON Schema can express. */
export const secretShape = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/;

/** `null`: the secret is valid. */
export function secretFault(secret: string): string | null {
  const { minBytes, maxBytes } = secretSizes;
  const text = secret.slice(secretPrefix.length).replaceAll('=', '');
  const length = Math.floor((text.length * 3) / 4);
  const isSecret = secretShape.test(secret) && isExact(text) && length >= minBytes && length <= maxBytes;
  return isSecret ? null : `must be ${secretPrefix} followed by ${minBytes} to ${maxBytes} bytes in base64`;
}

/** Whether the text, without padding, is the canonical base64 of its bytes. Other texts have unused bits set at the end. */
function isExact(text: string): boolean {
  return text.length % 4 !== 1 && btoa(atob(text)).replaceAll('=', '') === text;
}
