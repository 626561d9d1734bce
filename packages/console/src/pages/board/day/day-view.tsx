import { Group, Loader, MultiSelect, NumberInput, Select, Text, TextInput } from '@mantine/core';
import { maxServiceLevelSec } from '@usher/contract/limits';
import { useState, type ReactElement } from 'react';
import { ProblemNote } from '../../../components/problem.tsx';
import { formatClock } from '../../../components/time/duration.ts';
import { useRead } from '../../../data/use-api.ts';
import { useServiceLevel } from '../service-level.ts';
import { texts } from '../texts.ts';
import { useBoard, useTopic } from '../use-board.ts';
import now from '../now/now.module.css';
import { Charts } from './charts.tsx';
import { dayBounds, localDate, stepsOf, totalsOf } from './day.ts';
import { FiguresTable } from './figures-table.tsx';

const refreshMs = 30_000;
const steps = [
  { value: '900', label: texts.quarterHour },
  { value: '1800', label: texts.halfHour },
  { value: '3600', label: texts.oneHour },
];

interface Choice {
  readonly day: string;
  readonly intervalSec: number;
  readonly queueIds: readonly string[];
}

/** The statistics of one day, as charts and as a table. */
export function DayView({ siteIds }: { readonly siteIds: readonly string[] }): ReactElement {
  const [choice, setChoice] = useState<Choice>(() => ({
    day: localDate(new Date()),
    intervalSec: 1_800,
    queueIds: [],
  }));
  const [levelSec, chooseLevel] = useServiceLevel();
  const bounds = dayBounds(choice.day);
  const stats = useRead(
    'GET /queues/stats',
    {
      query: {
        site_ids: siteIds,
        ...(choice.queueIds.length === 0 ? {} : { queue_ids: choice.queueIds }),
        from: (bounds?.from ?? new Date(0)).toISOString(),
        to: (bounds?.to ?? new Date(0)).toISOString(),
        interval_sec: choice.intervalSec,
        service_level_sec: levelSec,
      },
    },
    { enabled: bounds !== null, keep: true, refetchInterval: refreshMs },
  );
  const intervals = stats.data?.data.intervals;
  return (
    <>
      <Choices
        choice={choice}
        choose={(change) => setChoice({ ...choice, ...change })}
        levelSec={levelSec}
        chooseLevel={chooseLevel}
      />
      <ProblemNote error={stats.error} title={texts.couldNotLoadDay} />
      {intervals === undefined ? (
        <Loader aria-label={texts.loading} />
      ) : (
        <>
          <Summary {...totalsOf(intervals)} levelSec={levelSec} />
          <Charts steps={stepsOf(intervals, new Date(stats.dataUpdatedAt))} levelSec={levelSec} />
          <FiguresTable intervals={intervals} />
        </>
      )}
    </>
  );
}

interface ChoicesProps {
  readonly choice: Choice;
  readonly choose: (change: Partial<Choice>) => void;
  readonly levelSec: number;
  readonly chooseLevel: (sec: number) => void;
}

function Choices({ choice, choose, levelSec, chooseLevel }: ChoicesProps): ReactElement {
  const { store } = useBoard();
  useTopic('queues');
  const queues = [...store.queues.values()].map(({ id, name }) => ({ value: id, label: name }));
  return (
    <Group gap="sm" mb="md" align="flex-end">
      <TextInput
        label={texts.day}
        type="date"
        size="xs"
        value={choice.day}
        error={dayBounds(choice.day) === null ? texts.chooseDay : null}
        onChange={({ currentTarget }) => choose({ day: currentTarget.value })}
      />
      <Select
        label={texts.interval}
        size="xs"
        w={150}
        allowDeselect={false}
        data={steps}
        value={String(choice.intervalSec)}
        onChange={(value) => choose({ intervalSec: Number(value) })}
      />
      <NumberInput
        label={texts.serviceLevelTarget}
        size="xs"
        w={190}
        min={0}
        max={maxServiceLevelSec}
        clampBehavior="strict"
        value={levelSec}
        onChange={(value) => chooseLevel(Number(value) || 0)}
      />
      <MultiSelect
        label={texts.queues}
        size="xs"
        flex="1 1 220px"
        placeholder={choice.queueIds.length === 0 ? texts.allQueues : ''}
        data={queues}
        value={[...choice.queueIds]}
        onChange={(queueIds) => choose({ queueIds })}
        searchable
        clearable
        limit={50}
        nothingFoundMessage={texts.noMatchingQueues}
      />
    </Group>
  );
}

function Summary(totals: ReturnType<typeof totalsOf> & { readonly levelSec: number }): ReactElement {
  if (totals.arrivals === 0)
    return (
      <Text c="dimmed" mb="md">
        {texts.noVisitorsOnDay}
      </Text>
    );
  const clock = (seconds: number | null): string => (seconds === null ? '–' : formatClock(seconds));
  const figures: readonly (readonly [name: string, value: string])[] = [
    [texts.offered, String(totals.arrivals)],
    [texts.answered, String(totals.engaged)],
    [texts.abandoned, String(totals.abandoned)],
    [texts.turnedAway, String(totals.turnedAway)],
    [texts.averageWait, clock(totals.averageWaitSec)],
    [texts.longestWait, clock(totals.longestWaitSec)],
    [texts.within(totals.levelSec), totals.within === null ? '–' : `${Math.round(totals.within * 100)} %`],
  ];
  return (
    <dl className={now['totals']} aria-label={texts.totalsOfDay}>
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
