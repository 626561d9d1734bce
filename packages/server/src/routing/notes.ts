import Type from 'typebox';
import type { WebhookId } from '../events/subscriptions/attach-webhooks.ts';
import { attachedWebhooks } from '../events/subscriptions/subscription.ts';
import { body, description, nullable } from '../platform/schema.ts';
import type { RequestNotes } from './board/structures/state.ts';

export const source = Type.String({
  maxLength: 255,
  description: 'Where the request came from: a free text of the caller',
});
export const phoneNumber = Type.String({ pattern: String.raw`^\+?[0-9 ().-]{3,32}$` });
export const mediaOptions = body({
  phone_number: Type.Optional(nullable(phoneNumber)),
  one_way: Type.Optional(Type.Boolean({ description: 'Only the operator sends video' })),
});
export const message = description;

/** Fields that tickets, requests and transfers have in common. */
export const noteFields = {
  source: Type.Optional(nullable(source)),
  media_options: Type.Optional(
    Type.Unsafe<Type.Static<typeof mediaOptions> | null>({ ...mediaOptions, type: ['object', 'null'] }),
  ),
  webhooks: Type.Optional(attachedWebhooks),
};

interface NotesInput {
  readonly source?: string | null | undefined;
  readonly media_options?: unknown;
  readonly message?: string | null | undefined;
}

/** `webhooks` are the ids of the attached webhooks. */
export function notesOf(input: NotesInput, webhooks: readonly WebhookId[] = []): RequestNotes {
  return {
    source: input.source ?? null,
    platform: 'web',
    mediaOptions: input.media_options ?? null,
    message: input.message ?? null,
    webhooks,
  };
}
