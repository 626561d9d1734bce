import { maxMessageLength, maxOptionLength, maxUrlLength } from '@usher/contract/limits';
import Type from 'typebox';
import { fieldOrder, type FieldSchema } from '../../events/field-order.ts';
import type { AccountId, EngagementId } from '../../platform/ids.ts';
import type { Violation } from '../../platform/errors.ts';
import { body, checked, list, nullable, nullAsAbsent, oneOf, output, timestamp, uuid } from '../../platform/schema.ts';

/** Characters of each as JSON: they go with the events, which together with the content stay under 256 KiB. */
const longestMetadata = 16_384;
const longestAttachment = 32_768;
const mostOptions = 100;
const mostFiles = 20;

const text = Type.String({ minLength: 1, maxLength: maxOptionLength });

const singleChoice = Type.Object(
  {
    type: Type.Literal('single_choice'),
    image_url: Type.Optional(nullAsAbsent(Type.String({ maxLength: maxUrlLength }))),
    options: list(body({ text, value: text }), { minItems: 1, maxItems: mostOptions }),
  },
  { additionalProperties: false },
);
const singleChoiceResponse = Type.Object(
  { type: Type.Literal('single_choice_response'), selected_option: text },
  { additionalProperties: false },
);
const chosenFiles = Type.Object(
  {
    type: Type.Literal('files'),
    files: list(body({ id: uuid<'file'>() }), { minItems: 1, maxItems: mostFiles, uniqueItems: true }),
  },
  { additionalProperties: false },
);

/**
 * One of the shapes, or null. Which it is, its `type` says; so what is wrong with it is told of that shape alone and not of
 * all of them.
 */
function attachment<T extends Type.TSchema>(shapes: readonly T[]) {
  const types = shapes.map(
    (shape) => (shape as unknown as { properties: { type: { const: string } } }).properties.type,
  );
  const schema = Type.Unsafe<Type.Static<T> | null>({
    type: ['object', 'null'],
    required: ['type'],
    properties: { type: { type: 'string', enum: types.map((type) => type.const) } },
    allOf: shapes.map((shape, index) => ({
      if: { type: 'object', required: ['type'], properties: { type: types[index] } },
      // oxlint-disable-next-line unicorn/no-thenable -- the word of JSON Schema; nobody awaits one.
      then: shape,
    })),
  });
  return checked(schema, noLongerThan(longestAttachment));
}

/** With its fields in the document's order: events carry it as it is stored. */
const order = fieldOrder({
  anyOf: [singleChoice, singleChoiceResponse, chosenFiles] as unknown as readonly FieldSchema[],
});

export function arrangeAttachment(given: unknown): unknown {
  return given === null || order === null ? given : order(given);
}

const content = Type.String({ maxLength: maxMessageLength });

function noLongerThan(longest: number): (value: unknown) => Violation[] {
  return (value) => {
    if (typeof value !== 'object' || value === null || JSON.stringify(value).length <= longest) return [];
    return [{ attribute: '', detail: `must not be longer than ${longest} characters as JSON` }];
  };
}

const anyObject = Type.Unsafe<Record<string, unknown> | null>({ type: ['object', 'null'] });

export const messageInput = checked(
  body({
    content,
    attachment: Type.Optional(attachment([singleChoice, singleChoiceResponse, chosenFiles])),
    metadata: Type.Optional(checked(anyObject, noLongerThan(longestMetadata))),
    // Clients of this family send both. They decide nothing, and must be true.
    type: Type.Optional(Type.Unsafe<'chat'>({ ...oneOf(['chat']), description: 'Decides nothing' })),
    target: Type.Optional(
      Type.Unsafe<'visitor' | 'operator'>({
        ...oneOf(['visitor', 'operator']),
        description: 'Decides nothing: the other side of the engagement than the sender',
      }),
    ),
  }),
  (value) => contentViolations(value, ['files']),
);

/** Empty only where something else is sent. */
function contentViolations(value: unknown, without: readonly string[]): Violation[] {
  if (typeof value !== 'object' || value === null) return [];
  const { content: given, attachment: sent } = value as { content?: unknown; attachment?: { type?: string } | null };
  if (given !== '' || without.includes(sent?.type ?? '')) return [];
  return [{ attribute: '/content', detail: 'must not be empty, but with files' }];
}

export type MessageInput = Type.Static<typeof messageInput>;

const promptOrSuggestion = Type.Unsafe<({ type: 'prompt' | 'suggestion' } & Record<string, unknown>) | null>({
  type: ['object', 'null'],
  required: ['type'],
  properties: { type: oneOf(['prompt', 'suggestion']) },
  description: 'Whatever else the sender adds is passed on',
});

export const systemMessageInput = checked(
  body({
    sender: Type.Optional(oneOf(['system', 'omniguide'] as const)),
    content,
    type: Type.Optional(oneOf(['system_message', 'visitor_authentication'] as const)),
    attachment: Type.Optional(attachment([singleChoice, singleChoiceResponse])),
    metadata: Type.Optional(checked(promptOrSuggestion, noLongerThan(longestMetadata))),
  }),
  (value) => contentViolations(value, []),
);

/** As it was sent: of files what they are and where. */
const sentAttachment = Type.Unsafe<Record<string, unknown> | null>({
  type: ['object', 'null'],
  additionalProperties: true,
});

export const messageOutput = output('ChatMessage', {
  id: uuid<'chat_message'>(),
  engagement_id: uuid<'engagement'>(),
  sub_engagement_id: uuid<'sub_engagement'>(),
  timestamp: Type.Unsafe<Date>({ ...timestamp, description: 'When the server received it' }),
  content: Type.String(),
  status: oneOf(['sent', 'delivered'] as const),
  sender: body({
    type: oneOf(['visitor', 'operator', 'system', 'omniguide'] as const),
    id: nullable(Type.String({ format: 'uuid' })),
  }),
  target: oneOf(['visitor', 'operator'] as const),
  type: oneOf(['chat', 'system_message', 'visitor_authentication'] as const),
  attachment: sentAttachment,
  metadata: sentAttachment,
  created_at: timestamp,
  updated_at: timestamp,
});

const { sender, ...messageFields } = messageOutput.properties;

/** A message in a transcript: also with what clients of this family read there. */
export const transcriptMessageOutput = output('TranscriptMessage', {
  ...messageFields,
  sender: body({
    ...sender.properties,
    name: Type.Unsafe<string | null>({
      ...nullable(Type.String()),
      description: 'Now: of an operator the display name, of a visitor the name they gave; null where there is none',
    }),
  }),
  message: Type.String({ description: 'The same as content' }),
});

export interface MessageRow extends Type.Static<typeof messageOutput> {
  readonly account_id: AccountId;
  readonly engagement_id: EngagementId;
}
