/**
 * What a migration says of itself in its first line:
 *
 *   -- additive                           programs of the version before can go on with the new schema
 *   -- additive, outside a transaction    the same, for indexes that are built concurrently
 *   -- breaking                           programs of the version before must have stopped
 *
 * A file without such a line is breaking.
 */
export interface MigrationKind {
  readonly compatibility: 'additive' | 'breaking';
  readonly isTransaction: boolean;
}

const header = /^-- (additive|breaking)(, outside a transaction)?\n/;

export function kindOf(text: string): MigrationKind {
  const [, compatibility, outside] = header.exec(text) ?? [];
  return {
    compatibility: compatibility === 'additive' ? 'additive' : 'breaking',
    isTransaction: outside === undefined,
  };
}

/** The last migration that was written before there were kinds. */
const lastWithoutKind = 32;

interface Forbidden {
  readonly pattern: RegExp;
  readonly reason: string;
}

/** What a program of the version before would notice, or what would keep it waiting. */
const forbidden: readonly Forbidden[] = [
  { pattern: /\bDROP (?:TABLE|COLUMN|TYPE|FUNCTION|SEQUENCE|VIEW|SCHEMA)\b/i, reason: 'drops something' },
  { pattern: /\bRENAME\b/i, reason: 'renames something' },
  { pattern: /\bALTER COLUMN \w+ (?:SET DATA )?TYPE\b/i, reason: 'changes the type of a column' },
  { pattern: /\bSET NOT NULL\b/i, reason: 'makes a column NOT NULL' },
  {
    pattern: /\bADD COLUMN (?:IF NOT EXISTS )?(?![^,;]*\bDEFAULT\b)[^,;]*\bNOT NULL\b/i,
    reason: 'adds a column that is NOT NULL without a default',
  },
  { pattern: /\bADD CONSTRAINT\b(?![^;]*\bNOT VALID\b)/i, reason: 'adds a constraint that is not NOT VALID' },
  { pattern: /\b(?:TRUNCATE|DELETE FROM)\b/i, reason: 'deletes rows' },
];

/** The faults of a migration: what it does that its first line rules out. */
export function migrationFaults(number: number, text: string): readonly string[] {
  if (number <= lastWithoutKind) return [];
  if (!header.test(text))
    return ['the first line must be "-- additive", "-- additive, outside a transaction" or "-- breaking"'];
  const { compatibility, isTransaction } = kindOf(text);
  const code = withoutFunctions(withoutComments(text));
  const broken =
    compatibility === 'breaking'
      ? []
      : forbidden.filter(({ pattern }) => pattern.test(code)).map(({ reason }) => reason);
  return [...broken, ...indexFaults(code, isTransaction)];
}

/** An index on an existing table must be built concurrently, because building it locks the table for writes. */
function indexFaults(code: string, isTransaction: boolean): readonly string[] {
  const created = new Set([...code.matchAll(/\bCREATE TABLE (?:IF NOT EXISTS )?(\w+)/gi)].map(([, table]) => table));
  const indexes = [
    ...code.matchAll(/\bCREATE (?:UNIQUE )?INDEX (CONCURRENTLY )?(IF NOT EXISTS )?(?:\w+ )?ON (?:ONLY )?(\w+)/gi),
  ];
  return indexes.flatMap(([, concurrently, ifNotExists, table]) => {
    if (isTransaction) return created.has(table) ? [] : [`builds an index on ${table} in a transaction`];
    return concurrently === undefined || ifNotExists === undefined
      ? [`must build the index on ${table} with CREATE INDEX CONCURRENTLY IF NOT EXISTS`]
      : [];
  });
}

/** The text without the bodies of its functions: the migration itself does not run them. */
function withoutFunctions(code: string): string {
  return code.replaceAll(/\bAS \$\$[\s\S]*?\$\$/g, "AS ''");
}

/** The text without its comments. A migration has no `--` inside a string. */
export function withoutComments(text: string): string {
  return text
    .split('\n')
    .map((line) => line.split('--', 1)[0] ?? '')
    .join('\n');
}
