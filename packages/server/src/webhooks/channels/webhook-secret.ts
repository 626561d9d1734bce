import { randomBytes } from 'node:crypto';
import Type from 'typebox';

/** A secret that requests of a webhook are signed with, as Standard Webhooks spells it: `whsec_` and base64. */

const prefix = 'whsec_';
const newBytes = 32;
const leastBytes = 24;
const mostBytes = 64;

export const webhookSecret = Type.String({
  pattern: String.raw`^whsec_[A-Za-z0-9+/]{32,88}={0,2}$`,
  description: `whsec_ and base64 of ${leastBytes} to ${mostBytes} random bytes; requests are signed with it (Standard Webhooks)`,
});

export function newSecret(): string {
  return `${prefix}${randomBytes(newBytes).toString('base64')}`;
}

/** The bytes to sign with; `null`: it is not a secret, whatever the pattern says of it. */
export function secretBytes(secret: string): Buffer | null {
  if (!secret.startsWith(prefix)) return null;
  const text = secret.slice(prefix.length);
  const bytes = Buffer.from(text, 'base64');
  const isExact = bytes.toString('base64').replaceAll('=', '') === text.replaceAll('=', '');
  return isExact && bytes.length >= leastBytes && bytes.length <= mostBytes ? bytes : null;
}

/** What a channel signs in with, as JSON. */
export const purposeOfCredentials = (webhookId: string): string => `credentials of the webhook ${webhookId}`;
export const purposeOfSecret = (webhookId: string): string => `secret of the webhook ${webhookId}`;
