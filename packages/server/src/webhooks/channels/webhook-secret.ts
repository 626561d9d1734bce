import { randomBytes } from 'node:crypto';
import { secretFault, secretPrefix, secretShape, secretSizes } from '@usher/contract/webhook-secret';
import Type from 'typebox';

const newBytes = 32;

export const webhookSecret = Type.String({
  pattern: secretShape.source,
  description: `whsec_ and base64 of ${secretSizes.minBytes} to ${secretSizes.maxBytes} random bytes; requests are signed with it (Standard Webhooks)`,
});

export function newSecret(): string {
  return `${secretPrefix}${randomBytes(newBytes).toString('base64')}`;
}

/** The bytes to sign with; `null`: it is not a secret, whatever the pattern says of it. */
export function secretBytes(secret: string): Buffer | null {
  return secretFault(secret) === null ? Buffer.from(secret.slice(secretPrefix.length), 'base64') : null;
}

/** What a channel signs in with, as JSON. */
export const purposeOfCredentials = (webhookId: string): string => `credentials of the webhook ${webhookId}`;
export const purposeOfSecret = (webhookId: string): string => `secret of the webhook ${webhookId}`;
