import { Button, Group, Select, Text, TextInput } from '@mantine/core';
import type { ReactElement } from 'react';
import { useSearchParams } from 'wouter';
import { PageTitle } from '../../components/page-title.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { useNow } from '../../components/time/elapsed-time.tsx';
import { Empty, Loading, NoMatch } from '../../components/states.tsx';
import { useMe } from '../../data/use-me.ts';
import { dayBounds, localDate } from '../board/day/day.ts';
import { useManagedSites } from '../board/use-board.ts';
import { usePeople } from '../people/use-people.ts';
import { linesOf } from './day-line.ts';
import { texts } from './texts.ts';
import { Timeline } from './timeline.tsx';
import { useIntervals } from './use-intervals.ts';

/** The presence of operators on one day. */
export function TimelinePage(): ReactElement {
  const siteIds = useManagedSites();
  const [search, setSearch] = useSearchParams();
  const today = localDate(new Date(useNow()));
  const day = search.get('day') ?? today;
  const chooseDay = (value: string): void => setSearch(new URLSearchParams({ day: value }), { replace: true });
  const bounds = dayBounds(day);
  return (
    <>
      <PageTitle title={texts.timeline} />
      <Choices day={day} chooseDay={chooseDay} />
      {siteIds.length === 0 ? (
        <Empty>{texts.noManagedOperators}</Empty>
      ) : bounds === null ? (
        <Empty>{texts.chooseDaySentence}</Empty>
      ) : (
        <DayTimeline siteIds={siteIds} from={bounds.from} to={bounds.to} />
      )}
    </>
  );
}

interface ChoicesProps {
  readonly day: string;
  readonly chooseDay: (day: string) => void;
}

const allSites = 'all';

function Choices({ day, chooseDay }: ChoicesProps): ReactElement {
  const me = useMe();
  const managed = me.sites.filter(({ id }) => me.can('manager', id));
  const sites = [
    { value: allSites, label: texts.allSites },
    ...managed.map(({ id, name }) => ({ value: id, label: name })),
  ];
  const bounds = dayBounds(day);
  const move = (days: number): void => {
    const from = bounds?.from ?? new Date();
    chooseDay(localDate(new Date(from.getFullYear(), from.getMonth(), from.getDate() + days)));
  };
  return (
    <Group gap="sm" mb="md" align="flex-end">
      <TextInput
        label={texts.day}
        type="date"
        size="xs"
        value={day}
        error={bounds === null ? texts.chooseDay : null}
        onChange={({ currentTarget }) => chooseDay(currentTarget.value)}
      />
      <Button.Group>
        <Button variant="default" size="xs" onClick={() => move(-1)}>
          {texts.previousDay}
        </Button>
        <Button variant="default" size="xs" onClick={() => move(1)}>
          {texts.nextDay}
        </Button>
        <Button variant="default" size="xs" onClick={() => chooseDay(localDate(new Date()))}>
          {texts.today}
        </Button>
      </Button.Group>
      <Select
        label={texts.site}
        size="xs"
        w={200}
        allowDeselect={false}
        data={sites}
        value={me.siteId ?? allSites}
        onChange={(value) => me.chooseSite(value === allSites ? null : value)}
      />
    </Group>
  );
}

/** The site is the only filter besides the day. */
function NoOperators(): ReactElement {
  const { siteId, chooseSite } = useMe();
  if (siteId === null) return <Empty>{texts.nobodyOnline}</Empty>;
  return (
    <NoMatch clear={() => chooseSite(null)} label={texts.showAllSites}>
      {texts.nobodyOfSiteOnline}
    </NoMatch>
  );
}

interface DayProps {
  readonly siteIds: readonly string[];
  readonly from: Date;
  readonly to: Date;
}

function DayTimeline({ siteIds, from, to }: DayProps): ReactElement {
  const now = useNow();
  const read = useIntervals({ siteIds, from, to });
  const people = usePeople().data ?? [];
  if (read.data === undefined)
    return read.error === null ? <Loading /> : <ProblemNote error={read.error} title={texts.couldNotLoadTimeline} />;
  const names = new Map(people.map(({ id, name }) => [id, name]));
  const lines = linesOf(read.data.intervals, { from: from.getTime(), to: to.getTime(), now })
    .map((line) => ({ ...line, name: names.get(line.operatorId) ?? texts.formerOperator }))
    .toSorted((a, b) => a.name.localeCompare(b.name) || (a.operatorId < b.operatorId ? -1 : 1));
  return (
    <>
      <ProblemNote error={read.error} />
      {read.data.isCut ? (
        <Text c="dimmed" mb="sm">
          {texts.tooManyChanges}
        </Text>
      ) : null}
      {lines.length === 0 ? <NoOperators /> : <Timeline lines={lines} from={from} to={to} now={now} />}
    </>
  );
}
