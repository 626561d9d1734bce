import type { ReactElement } from 'react';
import { formatTime, type TimeStyle } from './time.ts';

interface Props {
  readonly at: string;
  readonly format?: TimeStyle;
}

/** A time in the reader's time zone, with the full time and zone as title. */
export function Timestamp({ at, format = 'dateTime' }: Props): ReactElement {
  return (
    <time dateTime={at} className="tabular" title={formatTime(at, 'full')}>
      {formatTime(at, format)}
    </time>
  );
}
