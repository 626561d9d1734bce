import { isDeepStrictEqual } from 'node:util';

/** The fields of a resource, by name. */
export type Fields = Readonly<Record<string, unknown>>;

/** One changed field. A created resource has no `before`, a deleted one no `after`. */
export interface Change {
  readonly field: string;
  readonly before?: unknown;
  readonly after?: unknown;
  /** The field changed, but its values are hidden. */
  readonly hidden?: true;
  /** A value was too long and is replaced by the beginning of its JSON text. */
  readonly shortened?: true;
}

export interface FieldVisibility {
  /** The fields to compare. */
  readonly shown: readonly string[];
  /** Those of `shown` whose values are hidden: secrets and personal data of visitors. */
  readonly hidden: ReadonlySet<string>;
}

/** In characters of JSON. */
const maxValueLength = 4_000;

/** The changed fields. `before` is `null` for a created resource, `after` for a deleted one. */
export function changesOf(before: Fields | null, after: Fields | null, { shown, hidden }: FieldVisibility): Change[] {
  return shown.flatMap((field): Change[] => {
    const old = before === null ? undefined : toJsonValue(before[field]);
    const current = after === null ? undefined : toJsonValue(after[field]);
    if (isDeepStrictEqual(old, current)) return [];
    if (hidden.has(field)) return (old ?? current ?? null) === null ? [] : [{ field, hidden: true }];
    const [from, to] = [shorten(old), shorten(current)];
    return [
      {
        field,
        ...(old === undefined ? {} : { before: from.value }),
        ...(current === undefined ? {} : { after: to.value }),
        ...(from.cut || to.cut ? { shortened: true as const } : {}),
      },
    ];
  });
}

/** Converts to plain JSON values, so that a `Date` equals the same instant as text. */
function toJsonValue(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

function shorten(value: unknown): { readonly value: unknown; readonly cut: boolean } {
  const text = value === undefined ? '' : JSON.stringify(value);
  if (text.length <= maxValueLength) return { value, cut: false };
  return { value: text.slice(0, maxValueLength).toWellFormed(), cut: true };
}
