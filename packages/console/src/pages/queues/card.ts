import { isObject, parseCard } from '@usher/contract/response-card';

function isOption(option: unknown): option is CardOption {
  return isObject(option) && typeof option['text'] === 'string' && typeof option['value'] === 'string';
}

interface CardOption {
  readonly text: string;
  readonly value: string;
}

/** The draft of the card editor. */
export interface Card {
  readonly content: string;
  readonly image_url: string;
  readonly options: readonly CardOption[];
}

/** Parses the card in a text; `null` for plain text. Invalid parts are dropped. */
export function cardIn(text: string): Card | null {
  const parsed = parseCard(text);
  if (parsed === null) return null;
  const { content, attachment } = parsed;
  const { image_url: image, options } = isObject(attachment) ? attachment : {};
  return {
    content: typeof content === 'string' ? content : '',
    image_url: typeof image === 'string' ? image : '',
    options: Array.isArray(options)
      ? options.filter(isOption).map(({ text: label, value }) => ({ text: label, value }))
      : [],
  };
}

/** The card as JSON. Without options it is only the text, because an attachment must have options. */
export function textOf({ content, image_url, options }: Card): string {
  const attachment =
    options.length === 0 && image_url === ''
      ? {}
      : { attachment: { type: 'single_choice', ...(image_url === '' ? {} : { image_url }), options } };
  return JSON.stringify({ content, ...attachment }, null, 2);
}
