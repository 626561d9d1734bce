import type { ReactElement } from 'react';

const format = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/** An instant in the reader's own zone: with its year and zone on hovering. */
export function When({ at }: { readonly at: string }): ReactElement {
  const date = new Date(at);
  return (
    <time className="tabular" dateTime={at} title={date.toLocaleString(undefined, { timeZoneName: 'short' })}>
      {format.format(date)}
    </time>
  );
}
