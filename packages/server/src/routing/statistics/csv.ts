export type Cell = string | number | Date | null | undefined;

/** CSV by RFC 4180: CRLF, and quotes where a cell needs them. */
export function csvOf(columns: readonly string[], rows: readonly Readonly<Record<string, Cell>>[]): string {
  const lines = rows.map((row) => columns.map((column) => cellOf(row[column])).join(','));
  return [columns.join(','), ...lines, ''].join('\r\n');
}

/** A leading apostrophe keeps spreadsheets from running text that operators have typed as a formula. */
function cellOf(value: Cell): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Whether the `Accept` header prefers CSV to JSON. */
export function wantsCsv(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const quality = (type: string): number => Math.max(-1, ...accept.split(',').map((part) => qualityOf(part, type)));
  return quality('text/csv') > Math.max(0, quality('application/json'));
}

/** The quality that the part of the header gives the type; -1: the part names another type. */
function qualityOf(part: string, type: string): number {
  const [name = '', ...parameters] = part.split(';').map((each) => each.trim().toLowerCase());
  if (name !== type) return -1;
  const given = parameters.find((each) => each.startsWith('q='));
  const quality = given === undefined ? 1 : Number(given.slice(2));
  return Number.isNaN(quality) ? 0 : quality;
}
