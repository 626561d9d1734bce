import { ActionIcon, Button, Group, Input, Paper, SegmentedControl, Stack, Text, Title } from '@mantine/core';
import { Calendar } from '@mantine/dates';
import { Cross2Icon, PlusIcon } from '@radix-ui/react-icons';
import { useState, type ReactElement } from 'react';
import type { Faults } from '../../components/faults.ts';
import { withNumbers } from '../../components/with-numbers.ts';
import { formatDate } from '../../components/time/time.ts';
import {
  datesOf,
  indexesOf,
  describePlan,
  planOf,
  withPlan,
  type DayPlan,
  type Exception,
  type Times,
} from './exceptions.ts';
import classes from './hours.module.css';
import { ImportHolidays } from './import-holidays.tsx';
import { texts } from './texts.ts';
import { TimeInput } from './time-input.tsx';

interface Props {
  readonly exceptions: readonly Exception[];
  readonly timezone: string;
  readonly fault: Faults;
  readonly onChange: (exceptions: readonly Exception[]) => void;
}

const exceptionDate = (date: string): string => formatDate(date, 'dayOfYear');

const defaultTimes: Times = { opens_at: '10:00', closes_at: '14:00' };

/** Dates that differ from the week, on a calendar and as a list. */
export function ExceptionsEditor({ exceptions, timezone, fault, onChange }: Props): ReactElement {
  const [date, setDate] = useState<string | null>(null);
  const dates = datesOf(exceptions);
  const listError = fault('/exceptions');
  return (
    <Paper withBorder p="md" component="section" aria-label={texts.exceptions}>
      <Title order={2} size="h4" mb="xs">
        {texts.exceptions}
      </Title>
      <Stack gap="sm">
        <Calendar
          hideOutsideDates
          classNames={{ day: classes['date'] ?? '' }}
          ariaLabels={{ nextMonth: texts.nextMonth, previousMonth: texts.previousMonth }}
          getDayProps={(day) => ({
            selected: day === date,
            onClick: () => setDate(day),
            'aria-label': `${exceptionDate(day)}: ${describePlan(planOf(exceptions, day))}`,
          })}
          renderDay={(day) => (
            <span className={dates.includes(day) ? classes['marked'] : undefined}>{Number(day.slice(8))}</span>
          )}
        />
        {date === null ? (
          <Text size="xs" c="dimmed">
            {texts.exceptionsHelp}
          </Text>
        ) : (
          <DayEditor
            date={date}
            plan={planOf(exceptions, date)}
            fault={indexesOf(exceptions, date)
              .map((at) => fault(`/exceptions/${at}`))
              .find((found) => found !== undefined)}
            onChange={(plan) => onChange(withPlan(exceptions, date, plan))}
          />
        )}
        <ImportHolidays exceptions={exceptions} timezone={timezone} onChange={onChange} />
        {listError === undefined ? null : <Input.Error>{texts.exceptionError(listError)}</Input.Error>}
        {dates.length === 0 ? null : (
          <Stack gap={2} component="ul" className={classes['bare']} aria-label={texts.allExceptions}>
            {dates.map((each) => (
              <Group key={each} component="li" gap="xs" wrap="nowrap" justify="space-between">
                <Button variant="subtle" size="compact-sm" onClick={() => setDate(each)}>
                  {exceptionDate(each)}
                </Button>
                <Text size="sm" className="tabular" flex={1}>
                  {describePlan(planOf(exceptions, each))}
                </Text>
                <ActionIcon
                  variant="default"
                  size="sm"
                  aria-label={texts.removeDate(exceptionDate(each))}
                  onClick={() => onChange(withPlan(exceptions, each, 'usual'))}
                >
                  <Cross2Icon />
                </ActionIcon>
              </Group>
            ))}
          </Stack>
        )}
      </Stack>
    </Paper>
  );
}

interface DayProps {
  readonly date: string;
  readonly plan: DayPlan;
  readonly fault: string | undefined;
  readonly onChange: (plan: DayPlan) => void;
}

function DayEditor({ date, plan, fault, onChange }: DayProps): ReactElement {
  const kind = typeof plan === 'string' ? plan : 'hours';
  const times = typeof plan === 'string' ? [] : plan;
  const setTimes = (index: number, part: Partial<Times>): void =>
    onChange(times.map((each, at) => (at === index ? { ...each, ...part } : each)));
  return (
    <Stack gap="xs" component="fieldset" className={classes['plain']} aria-label={exceptionDate(date)}>
      <Text size="sm" fw={600}>
        {exceptionDate(date)}
      </Text>
      <SegmentedControl
        size="xs"
        aria-label={texts.hoursOn(exceptionDate(date))}
        value={kind}
        onChange={(next) => onChange(next === 'hours' ? [defaultTimes] : next === 'closed' ? 'closed' : 'usual')}
        data={[
          { value: 'usual', label: texts.regularHours },
          { value: 'closed', label: texts.closed },
          { value: 'hours', label: texts.customHours },
        ]}
      />
      {withNumbers(times).map(({ number, index, element: each }) => (
        <Group key={number} gap={6}>
          <TimeInput
            label={texts.opensThatDay(index + 1)}
            value={each.opens_at}
            error={fault}
            onChange={(opens_at) => setTimes(index, { opens_at })}
          />
          <Text size="sm" aria-hidden>
            –
          </Text>
          <TimeInput
            label={texts.closesThatDay(index + 1)}
            value={each.closes_at}
            error={fault}
            onChange={(closes_at) => setTimes(index, { closes_at })}
          />
          <ActionIcon
            variant="default"
            aria-label={texts.removeHoursThatDay(index + 1)}
            onClick={() => onChange(times.length === 1 ? 'closed' : times.filter((_, at) => at !== index))}
          >
            <Cross2Icon />
          </ActionIcon>
        </Group>
      ))}
      {kind === 'hours' ? (
        <Group>
          <Button
            size="compact-xs"
            variant="default"
            leftSection={<PlusIcon />}
            onClick={() => onChange([...times, defaultTimes])}
          >
            {texts.addHoursThatDay}
          </Button>
        </Group>
      ) : null}
      {fault === undefined ? null : <Input.Error>{fault}</Input.Error>}
    </Stack>
  );
}
