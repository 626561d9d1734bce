import { SegmentedControl, Text, TextInput } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { MagnifyingGlassIcon, TriangleDownIcon } from '@radix-ui/react-icons';
import { useCallback, useDeferredValue, useState, type ReactElement } from 'react';
import { Link } from 'wouter';
import { RichText } from '../../../components/rich-text.tsx';
import { NoMatch } from '../../../components/states.tsx';
import { listQueues, type Sorting } from '../list-queues.ts';
import { texts } from '../texts.ts';
import { useBoard, useTopic } from '../use-board.ts';
import { fallbackChain } from '../fallback-chain.ts';
import classes from './now.module.css';
import { Head } from './cell.tsx';
import { QueueCells } from './queue-cells.tsx';
import { VirtualRows } from './virtual-rows.tsx';

const heights = { wide: 68, narrow: 130 };

interface Props {
  readonly chosen: string | null;
  readonly choose: (id: string | null) => void;
}

/** Every queue of the sites, with its current figures. */
export function QueueList({ chosen, choose }: Props): ReactElement {
  const { store } = useBoard();
  useTopic('queues');
  const wide = useMediaQuery('(min-width: 48em)', true, { getInitialValueInEffect: false });
  const [sorting, setSorting] = useState<Sorting>('name');
  const [only, setOnly] = useState<'all' | 'unavailable'>('all');
  const [search, setSearch] = useState('');
  const deferredSearch = useDeferredValue(search);
  const queues = listQueues(store.queues.values(), (id) => store.longestSince(id), {
    sorting,
    search: deferredSearch,
    only,
  });
  const pick = useCallback((id: string) => choose(chosen === id ? null : id), [choose, chosen]);
  return (
    <section className={classes['panel']} aria-label={texts.queues}>
      <div className={classes['tools']}>
        <TextInput
          size="xs"
          aria-label={texts.findQueue}
          placeholder={texts.findQueue}
          leftSection={<MagnifyingGlassIcon aria-hidden />}
          value={search}
          onChange={({ currentTarget }) => setSearch(currentTarget.value)}
        />
        <SegmentedControl
          size="xs"
          aria-label={texts.filterQueues}
          value={only}
          onChange={(value) => setOnly(value === 'unavailable' ? 'unavailable' : 'all')}
          data={[
            { value: 'all', label: texts.all },
            { value: 'unavailable', label: texts.unavailable },
          ]}
        />
      </div>
      <VirtualRows
        label={texts.queues}
        items={queues}
        rowHeight={wide ? heights.wide : heights.narrow}
        className={classes['queueGrid']}
        header={<Heads sorting={sorting} sort={setSorting} />}
        empty={
          <NoQueues
            isFiltered={store.queues.size > 0}
            clear={() => {
              setSearch('');
              setOnly('all');
            }}
          />
        }
        isMarked={({ id }) => id === chosen}
        renderRow={(queue) => (
          <QueueCells
            queue={queue}
            longestSince={store.longestSince(queue.id)}
            {...store.staff(queue.id)}
            chain={fallbackChain(queue, store.queues)}
            isChosen={queue.id === chosen}
            choose={pick}
          />
        )}
      />
    </section>
  );
}

const columns: readonly (readonly [title: string, sorting: Sorting | null])[] = [
  [texts.queue, 'name'],
  [texts.waiting, 'waiting'],
  [texts.longest, 'longest'],
  [texts.average, 'average'],
  [texts.staff, null],
  [texts.capacity, null],
];

function Heads({ sorting, sort }: { readonly sorting: Sorting; readonly sort: (by: Sorting) => void }): ReactElement[] {
  return columns.map(([title, by]) => {
    if (by === null) return <Head key={title}>{title}</Head>;
    const direction = by === 'name' ? 'ascending' : 'descending';
    return (
      <Head key={title} sorted={sorting === by ? direction : 'none'}>
        <button type="button" className={classes['plain']} onClick={() => sort(by)}>
          {title}
          {sorting === by ? <TriangleDownIcon aria-hidden /> : null}
        </button>
      </Head>
    );
  });
}

function NoQueues({ isFiltered, clear }: { readonly isFiltered: boolean; readonly clear: () => void }): ReactElement {
  if (isFiltered) return <NoMatch clear={clear}>{texts.noMatchingQueues}</NoMatch>;
  return (
    <Text c="dimmed">
      <RichText text={texts.noQueuesYet} values={{ link: <Link href="/queues">{texts.createQueue}</Link> }} />
    </Text>
  );
}
