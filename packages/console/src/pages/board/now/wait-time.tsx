import { ExclamationTriangleIcon } from '@radix-ui/react-icons';
import type { ReactElement } from 'react';
import { formatClock } from '../../../components/time/duration.ts';
import { ElapsedTime, useNow } from '../../../components/time/elapsed-time.tsx';
import { useServiceLevel } from '../service-level.ts';
import { texts } from '../texts.ts';
import classes from './now.module.css';

/** A running wait time, marked by colour and icon once it exceeds the service level target. */
export function WaitTime({ since }: { readonly since: string }): ReactElement {
  const [levelSec] = useServiceLevel();
  const isLong = (useNow() - Date.parse(since)) / 1_000 > levelSec;
  if (!isLong) return <ElapsedTime at={since} />;
  return (
    <Warning title={texts.overTarget(formatClock(levelSec))} text={texts.longWait}>
      <ElapsedTime at={since} />
    </Warning>
  );
}

interface Props {
  readonly title: string;
  /** For screen readers, in place of the icon. */
  readonly text: string;
  readonly children?: ReactElement | number;
}

/** A figure that needs attention: red, with a warning icon and hidden text. */
export function Warning({ title, text, children }: Props): ReactElement {
  return (
    <span className={classes['warning']} title={title}>
      <ExclamationTriangleIcon aria-hidden />
      <span className={classes['visuallyHidden']}>{text} </span>
      {children}
    </span>
  );
}
