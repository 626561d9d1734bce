import Type from 'typebox';
import { body, oneOf } from '../platform/schema.ts';
import { id, instant } from './vocabulary.ts';

/** Messages as events carry them. Attachments have titles, so that openapi.json names their schemas. */

const singleChoice = Type.Object(
  {
    type: Type.Literal('single_choice'),
    image_url: Type.Optional(Type.String()),
    options: Type.Array(body({ text: Type.String(), value: Type.String() })),
  },
  { title: 'SingleChoiceAttachment', additionalProperties: false },
);

const singleChoiceResponse = Type.Object(
  { type: Type.Literal('single_choice_response'), selected_option: Type.String() },
  { title: 'SingleChoiceResponseAttachment', additionalProperties: false },
);

const files = Type.Object(
  {
    type: Type.Literal('files'),
    files: Type.Array(
      body({ url: Type.String(), name: Type.String(), content_type: Type.String(), deleted: Type.Boolean() }),
    ),
  },
  { title: 'FilesAttachment', additionalProperties: false },
);

const choiceOrNone = Type.Union([singleChoice, singleChoiceResponse, Type.Null()]);
const anyOrNone = Type.Union([singleChoice, singleChoiceResponse, files, Type.Null()]);

const sides = ['visitor', 'operator'] as const;

const messageFields = {
  timestamp: instant('When the server received the message'),
  id,
  engagement_id: id,
  sub_engagement_id: id,
  content: Type.String(),
};

const betweenSides = {
  sender: body({ type: oneOf(sides) }),
  target: oneOf(sides),
  type: Type.Literal('chat'),
};

export const sentMessage = body({
  ...messageFields,
  status: Type.Literal('sent'),
  ...betweenSides,
  attachment: anyOrNone,
});

/** `engagement.chat.message` carries the files; the status of the message does not repeat them. */
export const deliveredMessage = body({
  ...messageFields,
  status: Type.Literal('delivered'),
  ...betweenSides,
  attachment: choiceOrNone,
});

export const systemMessage = body({
  ...messageFields,
  status: Type.Literal('sent'),
  sender: body({ type: oneOf(['system', 'omniguide'] as const) }),
  target: Type.Literal('operator'),
  type: oneOf(['system_message', 'visitor_authentication'] as const),
  attachment: choiceOrNone,
  // The sender may add any fields beside `type`. This is the only object of the catalogue with additional fields.
  metadata: Type.Union([
    Type.Object(
      { type: oneOf(['prompt', 'suggestion'] as const) },
      { additionalProperties: true, description: 'Fields that the sender added' },
    ),
    Type.Null(),
  ]),
});
