import { Button, Tabs } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { Cross2Icon } from '@radix-ui/react-icons';
import { Suspense, useCallback, useState, type ReactElement } from 'react';
import { useSearchParams } from 'wouter';
import { RichText } from '../../../components/rich-text.tsx';
import { lazyComponent } from '../../../components/lazy-component.ts';
import { texts } from '../texts.ts';
import { useBoard, useTopic } from '../use-board.ts';
import { EngagementList } from './engagement-list.tsx';
import classes from './now.module.css';
import { OperatorList } from './operator-list.tsx';
import { QueueList } from './queue-list.tsx';
import { Totals } from './totals.tsx';
import { WaitingList } from './waiting-list.tsx';

const Transcript = lazyComponent(async () => (await import('./transcript.tsx')).Transcript);

type Tab = 'queues' | 'waiting' | 'engaged' | 'operators';
const tabs: readonly (readonly [Tab, string])[] = [
  ['queues', texts.queues],
  ['waiting', texts.waiting],
  ['engaged', texts.conversations],
  ['operators', texts.operators],
];

/** The current state: queues, and people beside them or, on small screens, in tabs. */
export function NowView(): ReactElement {
  const wide = useMediaQuery('(min-width: 75em)', true, { getInitialValueInEffect: false });
  const [params, setParams] = useSearchParams();
  const [tab, setTab] = useState<Tab>(wide ? 'waiting' : 'queues');
  const [viewedId, view] = useState<string | null>(null);
  const chosen = params.get('queue');
  const choose = useCallback(
    (id: string | null) => {
      setParams(id === null ? {} : { queue: id }, { replace: true });
      if (id !== null) setTab((now) => (now === 'queues' ? 'waiting' : now));
    },
    [setParams],
  );
  const close = useCallback(() => view(null), []);
  const current = wide && tab === 'queues' ? 'waiting' : tab;
  return (
    <div className={classes['board']}>
      <Totals />
      <div className={classes['layout']}>
        {wide ? <QueueList chosen={chosen} choose={choose} /> : null}
        <section className={classes['panel']} aria-label={wide ? texts.people : texts.queuesAndPeople}>
          <Tabs value={current} onChange={(value) => setTab(value as Tab)} keepMounted={false} display="contents">
            <Tabs.List>
              {tabs
                .filter(([value]) => !wide || value !== 'queues')
                .map(([value, title]) => (
                  <Tabs.Tab key={value} value={value} px={wide ? 'md' : 'xs'}>
                    {title}
                  </Tabs.Tab>
                ))}
            </Tabs.List>
            {chosen === null || current === 'queues' ? null : <Chosen id={chosen} clear={() => choose(null)} />}
            {tabs.map(([value]) => (
              <Tabs.Panel key={value} value={value} className={classes['tabPanel'] ?? ''} pt="xs">
                <Panel tab={value} {...{ chosen, choose, view }} />
              </Tabs.Panel>
            ))}
          </Tabs>
        </section>
      </div>
      {viewedId === null ? null : (
        <Suspense>
          <Transcript engagementId={viewedId} close={close} />
        </Suspense>
      )}
    </div>
  );
}

interface PanelProps {
  readonly tab: Tab;
  readonly chosen: string | null;
  readonly choose: (id: string | null) => void;
  readonly view: (engagementId: string) => void;
}

function Panel({ tab, chosen, choose, view }: PanelProps): ReactElement {
  switch (tab) {
    case 'queues':
      return <QueueList chosen={chosen} choose={choose} />;
    case 'waiting':
      return <WaitingList queueId={chosen} showAll={() => choose(null)} />;
    case 'engaged':
      return <EngagementList queueId={chosen} showAll={() => choose(null)} view={view} />;
    case 'operators':
      return <OperatorList queueId={chosen} showAll={() => choose(null)} />;
  }
}

/** The queue that filters the lists, with a button to show all. */
function Chosen({ id, clear }: { readonly id: string; readonly clear: () => void }): ReactElement {
  const { store } = useBoard();
  useTopic('queues');
  const name = store.queues.get(id)?.name ?? texts.deletedQueue;
  return (
    <Button
      mt="xs"
      size="compact-sm"
      variant="light"
      maw="100%"
      style={{ alignSelf: 'flex-start' }}
      rightSection={<Cross2Icon aria-hidden />}
      aria-label={texts.clearQueueFilter(name)}
      onClick={clear}
    >
      <RichText text={texts.onlyQueue} values={{ name: <bdi>{name}</bdi> }} />
    </Button>
  );
}
