import { ActionIcon, Button, Chip, Fieldset, Group, Input, Stack, Text } from '@mantine/core';
import { Cross2Icon, PlusIcon } from '@radix-ui/react-icons';
import { weekdays, minutesOfDay, spanOf } from '@usher/contract/opening-times';
import type { ReactElement } from 'react';
import type { Faults } from '../../components/faults.ts';
import { withNumbers } from '../../components/with-numbers.ts';
import classes from './hours.module.css';
import { texts } from './texts.ts';
import { TimeInput } from './time-input.tsx';
import { dayNames, inWeekOrder, type Row } from './week.ts';

interface Props {
  readonly rows: readonly Row[];
  readonly fault: Faults;
  readonly onChange: (rows: readonly Row[]) => void;
}

/** The same hours as in the grid, as a list that works with the keyboard alone. */
export function RowList({ rows, fault, onChange }: Props): ReactElement {
  const setRow = (index: number, part: Partial<Row>): void =>
    onChange(rows.map((row, at) => (at === index ? { ...row, ...part } : row)));
  return (
    <Fieldset legend={texts.timeRanges}>
      <Stack gap="sm">
        {withNumbers(rows).map(({ number, index, element: row }) => (
          <ListedRow
            key={number}
            number={number}
            row={row}
            fault={fault(`/business_hours/${index}`)}
            onChange={(part) => setRow(index, part)}
            onRemove={() => onChange(rows.filter((_, at) => at !== index))}
          />
        ))}
        <Group>
          <Button
            size="xs"
            variant="default"
            leftSection={<PlusIcon />}
            onClick={() => onChange([...rows, { opens_at: '09:00', closes_at: '17:00', days_of_week: [] }])}
          >
            {texts.addHours}
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  );
}

interface ListedProps {
  readonly number: number;
  readonly row: Row;
  readonly fault: string | undefined;
  readonly onChange: (part: Partial<Row>) => void;
  readonly onRemove: () => void;
}

function ListedRow({ number, row, fault, onChange, onRemove }: ListedProps): ReactElement {
  const span = spanOf(row);
  return (
    <fieldset className={classes['plain']} aria-label={texts.hoursNumber(number)}>
      <Group gap="xs">
        <Chip.Group
          multiple
          value={[...row.days_of_week]}
          onChange={(names) => onChange({ days_of_week: inWeekOrder(names) })}
        >
          <Group gap={4}>
            {weekdays.map((day, index) => (
              <Chip key={day} value={day} size="xs" variant="outline">
                {dayNames[index]}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
        <Group gap={6} wrap="nowrap">
          <TimeInput
            label={texts.opensNumber(number)}
            value={row.opens_at}
            error={fault}
            onChange={(opens_at) => onChange({ opens_at })}
          />
          <Text size="sm" aria-hidden>
            –
          </Text>
          <TimeInput
            label={texts.closesNumber(number)}
            value={row.closes_at}
            error={fault}
            onChange={(closes_at) => onChange({ closes_at })}
          />
          <ActionIcon variant="default" aria-label={texts.removeHoursNumber(number)} onClick={onRemove}>
            <Cross2Icon />
          </ActionIcon>
        </Group>
        {span !== null && span.closes > minutesOfDay ? (
          <Text size="xs" c="dimmed">
            {texts.closesNextDay}
          </Text>
        ) : null}
      </Group>
      {fault === undefined ? null : <Input.Error mt={4}>{fault}</Input.Error>}
    </fieldset>
  );
}
