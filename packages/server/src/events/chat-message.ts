import Type from 'typebox';
import { body, oneOf } from '../platform/schema.ts';
import { id, instant } from './vocabulary.ts';

/** Messages as events carry them, to the letter of the document. Attachments have titles: they are named in the API. */

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

const placeAndTime = {
  timestamp: instant('When the server received it'),
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
  ...placeAndTime,
  status: Type.Literal('sent'),
  ...betweenSides,
  attachment: anyOrNone,
});

/** Files go with the message itself only, not with the news that it was delivered. */
export const deliveredMessage = body({
  ...placeAndTime,
  status: Type.Literal('delivered'),
  ...betweenSides,
  attachment: choiceOrNone,
});

export const systemMessage = body({
  ...placeAndTime,
  status: Type.Literal('sent'),
  sender: body({ type: oneOf(['system', 'omniguide'] as const) }),
  target: Type.Literal('operator'),
  type: oneOf(['system_message', 'visitor_authentication'] as const),
  attachment: choiceOrNone,
  // Arbitrary beside its type, as the sender wrote it: the one object of the catalogue that takes other fields.
  metadata: Type.Union([
    Type.Object(
      { type: oneOf(['prompt', 'suggestion'] as const) },
      { additionalProperties: true, description: 'Whatever the sender added' },
    ),
    Type.Null(),
  ]),
});
