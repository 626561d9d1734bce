import { isDeepStrictEqual } from 'node:util';

/** A resource, as far as it is to be shown. */
export type Fields = Readonly<Record<string, unknown>>;

/** One field of what was changed. Of what was made there is no `before`, of what was deleted no `after`. */
export interface Change {
  readonly field: string;
  readonly before?: unknown;
  readonly after?: unknown;
  /** That it changed is all that is told. */
  readonly hidden?: true;
  /** A value that is too long is the beginning of its JSON. */
  readonly shortened?: true;
}

export interface Told {
  /** The fields to tell of. */
  readonly shown: readonly string[];
  /** Those among them whose values are nobody's business: secrets, and what is known of a visitor. */
  readonly hidden: ReadonlySet<string>;
}

/** Characters of a value, as JSON. */
const longestValue = 4_000;

/** What has become of a resource, field by field; `null`: it was not there before, or is not any more. */
export function changesOf(before: Fields | null, after: Fields | null, { shown, hidden }: Told): Change[] {
  return shown.flatMap((field): Change[] => {
    const was = before === null ? undefined : plain(before[field]);
    const is = after === null ? undefined : plain(after[field]);
    if (isDeepStrictEqual(was, is)) return [];
    if (hidden.has(field)) return (was ?? is ?? null) === null ? [] : [{ field, hidden: true }];
    const [from, to] = [shorten(was), shorten(is)];
    return [
      {
        field,
        ...(was === undefined ? {} : { before: from.value }),
        ...(is === undefined ? {} : { after: to.value }),
        ...(from.cut || to.cut ? { shortened: true as const } : {}),
      },
    ];
  });
}

/** As JSON has it, so that an instant is the same whether it was just read or just written. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

function shorten(value: unknown): { readonly value: unknown; readonly cut: boolean } {
  const text = value === undefined ? '' : JSON.stringify(value);
  if (text.length <= longestValue) return { value, cut: false };
  return { value: text.slice(0, longestValue).toWellFormed(), cut: true };
}
