import { Alert, Button, Checkbox, FileButton, Group, List, Modal, Stack, Text } from '@mantine/core';
import { CalendarError, readHolidays, type Holidays } from '@usher/contract/icalendar';
import { dateIn, yearFrom } from '@usher/contract/local-date';
import { useState, type ReactElement } from 'react';
import { formatDate } from '../../components/time/time.ts';
import { describePlan, planOf, withPlan, type Exception } from './exceptions.ts';
import classes from './hours.module.css';
import { texts } from './texts.ts';

interface Props {
  readonly exceptions: readonly Exception[];
  readonly timezone: string;
  readonly onChange: (exceptions: readonly Exception[]) => void;
}

/** A calendar of holidays has some hundred kilobytes. */
const maxBytes = 5_000_000;

/** Adds the all-day events of an iCalendar file as closed days, after a preview. */
export function ImportHolidays({ exceptions, timezone, onChange }: Props): ReactElement {
  const [holidays, setHolidays] = useState<Holidays | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const read = async (file: File): Promise<void> => {
    setProblem(null);
    if (file.size > maxBytes) return setProblem(texts.calendarTooLarge(file.name));
    try {
      setHolidays(readHolidays(await file.text(), yearFrom(todayIn(timezone))));
    } catch (error) {
      setProblem(error instanceof CalendarError ? error.message : texts.calendarUnreadable(file.name));
    }
  };
  return (
    <>
      <Group>
        <FileButton
          accept=".ics,text/calendar"
          inputProps={{ 'aria-label': texts.calendarFile }}
          onChange={(file) => {
            if (file !== null) void read(file);
          }}
        >
          {(props) => (
            <Button {...props} size="compact-sm" variant="default">
              {texts.importHolidays}
            </Button>
          )}
        </FileButton>
      </Group>
      {problem === null ? null : (
        <Alert color="red" role="alert" title={texts.couldNotImport}>
          {problem}
        </Alert>
      )}
      {holidays === null ? null : (
        <Preview
          holidays={holidays}
          exceptions={exceptions}
          onClose={() => setHolidays(null)}
          onAdd={(dates) => {
            onChange(dates.reduce<readonly Exception[]>((all, date) => withPlan(all, date, 'closed'), exceptions));
            setHolidays(null);
          }}
        />
      )}
    </>
  );
}

interface PreviewProps {
  readonly holidays: Holidays;
  readonly exceptions: readonly Exception[];
  readonly onAdd: (dates: readonly string[]) => void;
  readonly onClose: () => void;
}

/** A date that already has an exception keeps it: somebody has decided about it. */
function Preview({ holidays: { days, skipped }, exceptions, onAdd, onClose }: PreviewProps): ReactElement {
  const free = days.map(({ date }) => date).filter((date) => planOf(exceptions, date) === 'usual');
  const [chosen, setChosen] = useState<readonly string[]>(free);
  return (
    <Modal opened onClose={onClose} title={texts.importHolidays} size="lg">
      <Stack gap="sm">
        <Text size="sm">{days.length === 0 ? texts.noHolidays : texts.importHelp}</Text>
        <Stack gap={4} component="ul" className={classes['bare']} aria-label={texts.holidays}>
          {days.map(({ date, name }) => {
            const isFree = free.includes(date);
            return (
              <li key={date}>
                <Checkbox
                  label={`${formatDate(date, 'dayOfYear')} · ${name}`}
                  description={isFree ? undefined : texts.alreadyException(describePlan(planOf(exceptions, date)))}
                  disabled={!isFree}
                  checked={chosen.includes(date)}
                  onChange={({ currentTarget: { checked } }) =>
                    setChosen(checked ? [...chosen, date] : chosen.filter((each) => each !== date))
                  }
                />
              </li>
            );
          })}
        </Stack>
        {skipped.length === 0 ? null : (
          <Alert color="yellow" title={texts.skippedEvents}>
            <List size="sm">
              {[...new Set(skipped)].map((each) => (
                <List.Item key={each} className="user-text">
                  {each}
                </List.Item>
              ))}
            </List>
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {texts.cancel}
          </Button>
          <Button disabled={chosen.length === 0} onClick={() => onAdd(chosen)}>
            {texts.addClosedDays(chosen.length)}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** A draft may have an unknown time zone, which is reported at its field. The date of UTC is as good as any then. */
function todayIn(timezone: string): string {
  try {
    return dateIn(timezone, Date.now());
  } catch {
    return dateIn('UTC', Date.now());
  }
}
