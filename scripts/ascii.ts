/**
 * Writes the characters of a script that are not ASCII as escapes. V8 keeps the source of a script as long as the script, with two
 * bytes for every character if a single one is not ASCII: for the server those are 4 MB.
 */
const foreign = /[^\0-\u007F]/g;
/** An escape here would mean a backslash and five more characters: after a backslash, or in a raw template. */
const notEscapable = /(?<!\\)(?:\\\\)*\\[^\0-\u007F]|\.raw`[^`]*[^\0-\u007F]/;
/** `\u2026` instead of one character. */
const addedColumns = 5;

export function escapeForeign(code: string): string {
  const [found] = notEscapable.exec(code) ?? [];
  if (found !== undefined) throw new Error(`this cannot be written in ASCII: ${found.slice(-80)}`);
  return code.replaceAll(foreign, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The mappings of a source map after `escapeForeign(code)`. */
export function shiftMappings(mappings: string, code: string): string {
  const lines = code.split('\n');
  return mappings
    .split(';')
    .map((segments, line) => shiftLine(segments, foreignColumns(lines[line] ?? '')))
    .join(';');
}

function foreignColumns(line: string): number[] {
  return [...line.matchAll(foreign)].map(({ index }) => index);
}

/** A segment begins with its column, counted from that of the segment before. The rest of a segment stays. */
function shiftLine(segments: string, columns: readonly number[]): string {
  if (segments === '' || columns.length === 0) return segments;
  let column = 0;
  let passed = 0;
  let lastShifted = 0;
  const shifted = segments.split(',').map((segment) => {
    const { value, length } = decodeFirst(segment);
    column += value;
    while ((columns[passed] ?? Infinity) < column) passed += 1;
    const now = column + passed * addedColumns;
    const text = encode(now - lastShifted) + segment.slice(length);
    lastShifted = now;
    return text;
  });
  return shifted.join(',');
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Base64 VLQ: five bits to a digit, the lowest first; the sixth says that more follow. The columns of a line only grow. */
function decodeFirst(segment: string): { value: number; length: number } {
  let bits = 0;
  for (let length = 1; length <= segment.length; length += 1) {
    const digit = digits.indexOf(segment.charAt(length - 1));
    bits += (digit % 32) * 32 ** (length - 1);
    if (digit < 32) return { value: Math.floor(bits / 2), length };
  }
  throw new Error(`not a segment of a source map: ${segment}`);
}

/** The lowest bit is the sign, which is 0 here. */
function encode(value: number): string {
  let bits = value * 2;
  let text = '';
  for (; bits >= 32; bits = Math.floor(bits / 32)) text += digits.charAt(32 + (bits % 32));
  return text + digits.charAt(bits);
}
