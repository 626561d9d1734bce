/**
 * Response cards in welcome messages: text that is a JSON object is a card, other text is sent as it is. The rules are those
 * of the server (queues/welcome-message.ts), so that they can be told as one types; card.test.ts holds both to be the same.
 */
export const longestBytes = 16_384;

export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

export function welcomeFaults(text: string): string[] {
  if (bytesOf(text) > longestBytes) return [`must not be longer than ${longestBytes} bytes`];
  const card = parseCard(text);
  return card === null ? [] : cardFaults(card).map((fault) => `is a response card: ${fault}`);
}

function parseCard(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function cardFaults({ content, attachment }: Record<string, unknown>): string[] {
  const faults = typeof content === 'string' ? [] : ['its content must be a string'];
  if (attachment === undefined || attachment === null) return faults;
  if (!isObject(attachment)) return [...faults, 'its attachment must be an object'];
  const { type, image_url: image, options } = attachment;
  if (type !== 'single_choice') faults.push('its attachment must have the type single_choice');
  if (image !== undefined && image !== null && typeof image !== 'string')
    faults.push('its attachment.image_url must be a string or null');
  if (!Array.isArray(options) || options.length === 0)
    return [...faults, 'its attachment.options must be a list with at least 1 element'];
  return [...faults, ...options.flatMap((option, index) => optionFaults(option, `its attachment.options[${index}]`))];
}

function optionFaults(option: unknown, where: string): string[] {
  if (!isObject(option)) return [`${where} must be an object`];
  return ['text', 'value'].flatMap((field) =>
    typeof option[field] === 'string' ? [] : [`${where}.${field} must be a string`],
  );
}

function isOption(option: unknown): option is CardOption {
  return isObject(option) && typeof option['text'] === 'string' && typeof option['value'] === 'string';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface CardOption {
  readonly text: string;
  readonly value: string;
}

/** What the card editor holds. */
export interface Card {
  readonly content: string;
  readonly image_url: string;
  readonly options: readonly CardOption[];
}

/** The card in a text, as far as there is one; `null`: plain text. What is wrong in it is left out. */
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

/** The card as JSON. Without options it is a text that looks like one: what is attached must have some. */
export function textOf({ content, image_url, options }: Card): string {
  const attachment =
    options.length === 0 && image_url === ''
      ? {}
      : { attachment: { type: 'single_choice', ...(image_url === '' ? {} : { image_url }), options } };
  return JSON.stringify({ content, ...attachment }, null, 2);
}
