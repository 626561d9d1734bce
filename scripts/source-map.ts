import { addedColumns, foreignColumns } from './ascii.ts';

/**
 * The mappings of a source map (ECMA-426) after `escapeForeign(code)`, with the first segment of each line of a source and no others. For the
 * server these are a quarter. Node reads all of them for the first stack trace: with every segment that took 0.3 s and 45 MB.
 * A stack trace names the right line and the column where the line begins.
 */
export function lineMappings(mappings: string, code: string): string {
  const columns = foreignColumns(code);
  const read = new Position();
  const written = new Position();
  let last = '';
  const lineOf = (segments: string, line: number): string => {
    read.column = 0;
    written.column = 0;
    let passed = 0;
    const kept: string[] = [];
    for (const segment of segments === '' ? [] : segments.split(',')) {
      const isMapped = read.advance(decode(segment));
      while ((columns[line]?.[passed] ?? Infinity) < read.column) passed += 1;
      const place = isMapped ? `${read.source}:${read.sourceLine}` : '';
      if (place !== last) kept.push(written.moveTo(read, read.column + passed * addedColumns, isMapped));
      last = place;
    }
    return kept.join(',');
  };
  return mappings.split(';').map(lineOf).join(';');
}

/** What the fields of a segment are counted from: those of the segment before it. Names are left out. */
class Position {
  column = 0;
  source = 0;
  sourceLine = 0;
  sourceColumn = 0;

  /** Whether the segment belongs to a source. */
  advance([column = 0, source, line = 0, sourceColumn = 0]: readonly number[]): boolean {
    this.column += column;
    if (source === undefined) return false;
    this.source += source;
    this.sourceLine += line;
    this.sourceColumn += sourceColumn;
    return true;
  }

  /** The segment that leads from here to there. */
  moveTo(there: Position, column: number, isMapped: boolean): string {
    let segment = encode(column - this.column);
    this.column = column;
    if (!isMapped) return segment;
    segment += encode(there.source - this.source);
    segment += encode(there.sourceLine - this.sourceLine);
    segment += encode(there.sourceColumn - this.sourceColumn);
    this.source = there.source;
    this.sourceLine = there.sourceLine;
    this.sourceColumn = there.sourceColumn;
    return segment;
  }
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Base64 VLQ: five bits to a digit, the lowest first; the sixth says that more follow. The lowest bit of a number is its sign. */
function decode(segment: string): number[] {
  const numbers: number[] = [];
  let bits = 0;
  let scale = 1;
  for (const character of segment) {
    const digit = digits.indexOf(character);
    bits += (digit % 32) * scale;
    scale *= 32;
    if (digit >= 32) continue;
    numbers.push(bits % 2 === 0 ? bits / 2 : -(bits - 1) / 2);
    bits = 0;
    scale = 1;
  }
  return numbers;
}

function encode(value: number): string {
  let bits = value < 0 ? -value * 2 + 1 : value * 2;
  let text = '';
  for (; bits >= 32; bits = Math.floor(bits / 32)) text += digits.charAt(32 + (bits % 32));
  return text + digits.charAt(bits);
}
