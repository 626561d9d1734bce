import { bytesOf } from './bytes.ts';

export const maxWelcomeBytes = 16_384;

/**
 * D5.6: a welcome message that parses as a JSON object is a response card: a chat message of which `content` and `attachment` are used.
 * Other text is sent unchanged. The field is a string, so a JSON pointer cannot point into the card; the fault names the place.
 */
export function welcomeFaults(text: string): string[] {
  if (bytesOf(text) > maxWelcomeBytes) return [`must be at most ${maxWelcomeBytes} bytes`];
  const card = parseCard(text);
  return card === null ? [] : cardFaults(card).map((fault) => `is a response card: ${fault}`);
}

export function parseCard(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** All faults of the card, in field order. */
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

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
