import { maxMessageLength, maxOptionLength, maxUrlLength } from '@usher/contract/limits';
import Type from 'typebox';
import { fieldOrder, type FieldSchema } from '../../events/field-order.ts';
import type { AccountId, EngagementId } from '../../platform/ids.ts';
import type { Violation } from '../../platform/errors.ts';
import { body, checked, list, nullable, nullAsAbsent, oneOf, output, timestamp, uuid } from '../../platform/schema.ts';

/** Limits in characters of JSON. Events carry metadata and attachment, and an event with its content must stay under 256 KiB. */
const maxMetadataLength = 16_384;
const maxAttachmentLength = 32_768;
const maxOptions = 100;
const maxFiles = 20;

const text = Type.String({ minLength: 1, maxLength: maxOptionLength });

const singleChoice = Type.Object(
  {
    type: Type.Literal('single_choice'),
    image_url: Type.Optional(nullAsAbsent(Type.String({ maxLength: maxUrlLength }))),
    options: list(body({ text, value: text }), { minItems: 1, maxItems: maxOptions }),
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
    files: list(body({ id: uuid<'file'>() }), { minItems: 1, maxItems: maxFiles, uniqueItems: true }),
  },
  { additionalProperties: false },
);

/** One of the shapes, or null. The `type` selects the shape, so violations are reported for that shape alone and not for all. */
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
      // oxlint-disable-next-line unicorn/no-thenable -- `then` is a JSON Schema keyword; nothing awaits this object.
      then: shape,
    })),
  });
  return checked(schema, maxJsonLength(maxAttachmentLength));
}

/** Puts the fields into the order of the interface before storing: events carry the attachment as it is stored. */
const order = fieldOrder({
  anyOf: [singleChoice, singleChoiceResponse, chosenFiles] as unknown as readonly FieldSchema[],
});

export function arrangeAttachment(given: Record<string, unknown> | null): Record<string, unknown> | null {
  return given === null || order === null ? given : (order(given) as Record<string, unknown>);
}

const content = Type.String({ maxLength: maxMessageLength });

function maxJsonLength(max: number): (value: unknown) => Violation[] {
  return (value) => {
    if (typeof value !== 'object' || value === null || JSON.stringify(value).length <= max) return [];
    return [{ attribute: '', detail: `must be at most ${max} characters as JSON` }];
  };
}

const anyObject = Type.Unsafe<Record<string, unknown> | null>({ type: ['object', 'null'] });

export const messageInput = checked(
  body({
    content,
    attachment: Type.Optional(attachment([singleChoice, singleChoiceResponse, chosenFiles])),
    metadata: Type.Optional(checked(anyObject, maxJsonLength(maxMetadataLength))),
    // Existing clients send both. They have no effect, but must be correct.
    type: Type.Optional(Type.Unsafe<'chat'>({ ...oneOf(['chat']), description: 'Has no effect' })),
    target: Type.Optional(
      Type.Unsafe<'visitor' | 'operator'>({
        ...oneOf(['visitor', 'operator']),
        description: 'Has no effect; if given, it must be the side that receives the message',
      }),
    ),
  }),
  (value) => contentViolations(value, ['files']),
);

/** `content` may be empty only with an attachment of one of these types. */
function contentViolations(value: unknown, attachmentTypes: readonly string[]): Violation[] {
  if (typeof value !== 'object' || value === null) return [];
  const { content: given, attachment: sent } = value as { content?: unknown; attachment?: { type?: string } | null };
  if (given !== '' || attachmentTypes.includes(sent?.type ?? '')) return [];
  return [
    {
      attribute: '/content',
      detail: attachmentTypes.length === 0 ? 'must not be empty' : 'must not be empty unless files are attached',
    },
  ];
}

export type MessageInput = Type.Static<typeof messageInput>;

const promptOrSuggestion = Type.Unsafe<({ type: 'prompt' | 'suggestion' } & Record<string, unknown>) | null>({
  type: ['object', 'null'],
  required: ['type'],
  properties: { type: oneOf(['prompt', 'suggestion']) },
  description: 'Other fields are passed on unchanged',
});

export const systemMessageInput = checked(
  body({
    sender: Type.Optional(oneOf(['system', 'omniguide'] as const)),
    content,
    type: Type.Optional(oneOf(['system_message', 'visitor_authentication'] as const)),
    attachment: Type.Optional(attachment([singleChoice, singleChoiceResponse])),
    metadata: Type.Optional(checked(promptOrSuggestion, maxJsonLength(maxMetadataLength))),
  }),
  (value) => contentViolations(value, []),
);

/** The attachment as it was sent. Files are shown with their name, type and URL. */
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

/** A message in a transcript, with additional fields that existing clients read there. */
export const transcriptMessageOutput = output('TranscriptMessage', {
  ...messageFields,
  sender: body({
    ...sender.properties,
    name: Type.Unsafe<string | null>({
      ...nullable(Type.String()),
      description:
        'The current name: the display name of an operator, the name that a visitor gave; null if there is none',
    }),
  }),
  message: Type.String({ description: 'The same as content' }),
});

export interface MessageRow extends Type.Static<typeof messageOutput> {
  readonly account_id: AccountId;
  readonly engagement_id: EngagementId;
}
