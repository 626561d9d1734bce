import { randomBytes } from 'node:crypto';
import { secretFault, secretPrefix, secretShape, secretSizes } from '@usher/contract/webhook-secret';
import Type from 'typebox';

const newBytes = 32;

export const webhookSecret = Type.String({
  pattern: secretShape.source,
  description: `whsec_ and base64 of ${secretSizes.minBytes} to ${secretSizes.maxBytes} random bytes. Requests are signed with this secret (Standard Webhooks)`,
});

export function newSecret(): string {
  return `${secretPrefix}${randomBytes(newBytes).toString('base64')}`;
}

/** The bytes to sign with; `null`: the text is not a valid secret. */
export function secretBytes(secret: string): Buffer | null {
  return secretFault(secret) === null ? Buffer.from(secret.slice(secretPrefix.length), 'base64') : null;
}

/** Credentials are sealed as JSON. */
export const purposeOfCredentials = (webhookId: string): string => `credentials of the webhook ${webhookId}`;
export const purposeOfSecret = (webhookId: string): string => `secret of the webhook ${webhookId}`;
