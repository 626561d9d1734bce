import type { HoursOutlook } from '@usher/sdk/api-types';
import { Fragment, type ReactElement } from 'react';
import { Text, VisuallyHidden } from '@mantine/core';
import { useNow } from '../../components/time/elapsed-time.tsx';
import { formatDate } from '../../components/time/time.ts';
import classes from './hours.module.css';
import { describeChange, stripOf, zoneFormat, type StripDay } from './strip.ts';
import { texts } from './texts.ts';

const percent = (fraction: number): string => `${fraction * 100}%`;

/** A row per day, all to one scale: a row with a DST change is longer or shorter. */
export function Strip({
  outlook,
  timezone,
}: {
  readonly outlook: HoursOutlook;
  readonly timezone: string;
}): ReactElement {
  const now = useNow();
  const time = zoneFormat(timezone, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  const days = stripOf(outlook);
  const dayLength = days.find(({ hours }) => hours === 24)?.length ?? 1;
  return (
    <dl className={classes['strip']} aria-label={texts.days}>
      {days.map((day) => {
        const isToday = day.startsAt <= now && now < day.endsAt;
        return (
          <Fragment key={day.date}>
            <dt data-today={isToday || undefined}>{formatDate(day.date, 'day')}</dt>
            <dd>
              <VisuallyHidden>{describeDay(day, time)}</VisuallyHidden>
              <div
                className={classes['day']}
                style={{ width: percent(day.length) }}
                aria-hidden
                data-testid="day"
                title={describeDay(day, time)}
              >
                {day.pieces.map(({ from, to }) => (
                  <span
                    key={from}
                    className={classes['piece']}
                    style={{ left: percent(from / day.length), width: percent((to - from) / day.length) }}
                  />
                ))}
                {day.changes.map(({ at, position }) => (
                  <span key={at} className={classes['change']} style={{ left: percent(position / day.length) }} />
                ))}
                {isToday ? (
                  <span
                    className={classes['now']}
                    style={{ left: percent((now - day.startsAt) / (day.endsAt - day.startsAt)) }}
                  />
                ) : null}
              </div>
              {day.changes.map((change) => (
                <Text key={change.at} size="xs">
                  {describeChange(change)}
                </Text>
              ))}
            </dd>
          </Fragment>
        );
      })}
      <dt aria-hidden />
      <dd aria-hidden className={classes['scale']} style={{ width: percent(dayLength) }}>
        {['00', '06', '12', '18', '24'].map((hour) => (
          <span key={hour}>{hour}</span>
        ))}
      </dd>
    </dl>
  );
}

/** The content of the row for screen readers. */
function describeDay(day: StripDay, time: Intl.DateTimeFormat): string {
  const clock = (at: number): string => (at === day.endsAt ? '24:00' : time.format(at));
  const open = day.pieces.map(({ opensAt, closesAt }) => `${clock(opensAt)}–${clock(closesAt)}`).join(', ');
  const changes = day.changes.map((change) => `. ${describeChange(change)}`).join('');
  const date = formatDate(day.date, 'day');
  return (open === '' ? texts.dayClosed(date, day.hours) : texts.dayOpen(date, open, day.hours)) + changes;
}
