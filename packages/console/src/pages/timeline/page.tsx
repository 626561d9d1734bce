import { Button, Group, Select, Text, TextInput } from '@mantine/core';
import type { ReactElement } from 'react';
import { useSearchParams } from 'wouter';
import { PageTitle } from '../../components/page-title.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { useNow } from '../../components/since.tsx';
import { Empty, Loading, NoMatch } from '../../components/states.tsx';
import { useMe } from '../../data/use-me.ts';
import { boundsOf, nameOf } from '../board/day/day.ts';
import { useManagedSites } from '../board/use-board.ts';
import { usePeople } from '../people/use-people.ts';
import { linesOf } from './day-line.ts';
import { Timeline } from './timeline.tsx';
import { useIntervals } from './use-intervals.ts';

/** What operators did on a day, one row for each. */
export function TimelinePage(): ReactElement {
  const siteIds = useManagedSites();
  const [search, setSearch] = useSearchParams();
  const today = nameOf(new Date(useNow()));
  const day = search.get('day') ?? today;
  const chooseDay = (value: string): void => setSearch(new URLSearchParams({ day: value }), { replace: true });
  const bounds = boundsOf(day);
  return (
    <>
      <PageTitle title="Timeline" />
      <Choices day={day} chooseDay={chooseDay} />
      {siteIds.length === 0 ? (
        <Empty>You manage no operators on this site. Choose another site.</Empty>
      ) : bounds === null ? (
        <Empty>Choose a day.</Empty>
      ) : (
        <DayOf siteIds={siteIds} from={bounds.from} to={bounds.to} />
      )}
    </>
  );
}

interface ChoicesProps {
  readonly day: string;
  readonly chooseDay: (day: string) => void;
}

const everySite = 'all';

function Choices({ day, chooseDay }: ChoicesProps): ReactElement {
  const me = useMe();
  const managed = me.sites.filter(({ id }) => me.can('manager', id));
  const sites = [
    { value: everySite, label: 'All sites' },
    ...managed.map(({ id, name }) => ({ value: id, label: name })),
  ];
  const bounds = boundsOf(day);
  const move = (days: number): void => {
    const from = bounds?.from ?? new Date();
    chooseDay(nameOf(new Date(from.getFullYear(), from.getMonth(), from.getDate() + days)));
  };
  return (
    <Group gap="sm" mb="md" align="flex-end">
      <TextInput
        label="Day"
        type="date"
        size="xs"
        value={day}
        error={bounds === null ? 'Choose a day' : null}
        onChange={({ currentTarget }) => chooseDay(currentTarget.value)}
      />
      <Button.Group>
        <Button variant="default" size="xs" onClick={() => move(-1)}>
          Previous day
        </Button>
        <Button variant="default" size="xs" onClick={() => move(1)}>
          Next day
        </Button>
        <Button variant="default" size="xs" onClick={() => chooseDay(nameOf(new Date()))}>
          Today
        </Button>
      </Button.Group>
      <Select
        label="Site"
        size="xs"
        w={200}
        allowDeselect={false}
        data={sites}
        value={me.siteId ?? everySite}
        onChange={(value) => me.chooseSite(value === everySite ? null : value)}
      />
    </Group>
  );
}

/** The site is the only filter beside the day. */
function Nobody(): ReactElement {
  const { siteId, chooseSite } = useMe();
  if (siteId === null) return <Empty>No operators were online on this day.</Empty>;
  return (
    <NoMatch clear={() => chooseSite(null)} label="Show all sites">
      No operators of this site were online on this day.
    </NoMatch>
  );
}

interface DayProps {
  readonly siteIds: readonly string[];
  readonly from: Date;
  readonly to: Date;
}

function DayOf({ siteIds, from, to }: DayProps): ReactElement {
  const now = useNow();
  const read = useIntervals({ siteIds, from, to });
  const people = usePeople().data ?? [];
  if (read.data === undefined)
    return read.error === null ? (
      <Loading />
    ) : (
      <ProblemNote error={read.error} title="The timeline could not be read" />
    );
  const names = new Map(people.map(({ id, name }) => [id, name]));
  const lines = linesOf(read.data.intervals, { from: from.getTime(), to: to.getTime(), now })
    .map((line) => ({ ...line, name: names.get(line.operatorId) ?? 'Former operator' }))
    .toSorted((a, b) => a.name.localeCompare(b.name) || (a.operatorId < b.operatorId ? -1 : 1));
  return (
    <>
      <ProblemNote error={read.error} />
      {read.data.isCut ? (
        <Text c="dimmed" mb="sm">
          This day has more than 50,000 changes. The latest are not shown.
        </Text>
      ) : null}
      {lines.length === 0 ? <Nobody /> : <Timeline lines={lines} from={from} to={to} now={now} />}
    </>
  );
}
