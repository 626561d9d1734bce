import type { ReactElement } from 'react';
import { formatTime, type TimeStyle } from './time.ts';

interface Props {
  readonly at: string;
  readonly format?: TimeStyle;
}

/** A moment in the reader's own zone; the whole of it, with the zone, in the title. */
export function At({ at, format = 'dateTime' }: Props): ReactElement {
  return (
    <time dateTime={at} className="tabular" title={formatTime(at, 'full')}>
      {formatTime(at, format)}
    </time>
  );
}
