import type { ReactElement } from 'react';

/** A moment, in the reader's own zone; the whole of it in the title. */
export function At({ at, time = true }: { readonly at: string; readonly time?: boolean }): ReactElement {
  const date = new Date(at);
  const short = date.toLocaleString(undefined, {
    dateStyle: 'medium',
    ...(time ? { timeStyle: 'short' } : {}),
  });
  return (
    <time
      dateTime={at}
      className="tabular"
      title={date.toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' })}
    >
      {short}
    </time>
  );
}
