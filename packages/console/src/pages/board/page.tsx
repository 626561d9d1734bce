import { Center, Loader, Tabs, Text } from '@mantine/core';
import { Suspense, type ReactElement } from 'react';
import { useLocation, useRoute } from 'wouter';
import { lazyComponent } from '../../components/lazy-component.ts';
import { PageTitle } from '../../components/page-title.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { NowView } from './now/now-view.tsx';
import { texts } from './texts.ts';
import { BoardContext, useBoard, useManagedSites, useLiveBoard, useTopic } from './use-board.ts';

/** Charts are large, so they are loaded on demand. */
const DayView = lazyComponent(async () => (await import('./day/day-view.tsx')).DayView);

/** The page of supervisors: queues and people, now and today. */
export function BoardPage(): ReactElement {
  const siteIds = useManagedSites();
  if (siteIds.length === 0)
    return (
      <>
        <PageTitle title={texts.liveBoard} />
        <Text c="dimmed">{texts.noManagedQueues}</Text>
      </>
    );
  return <Board siteIds={siteIds} />;
}

function Board({ siteIds }: { readonly siteIds: readonly string[] }): ReactElement {
  const { board, error } = useLiveBoard(siteIds);
  const [isDayView] = useRoute('/board/day');
  const [, go] = useLocation();
  return (
    <BoardContext value={board}>
      <PageTitle title={texts.liveBoard}>
        <Tabs value={isDayView ? 'day' : 'now'} onChange={(value) => go(value === 'day' ? '/board/day' : '/board')}>
          <Tabs.List aria-label={texts.period}>
            <Tabs.Tab value="now">{texts.now}</Tabs.Tab>
            <Tabs.Tab value="day">{texts.today}</Tabs.Tab>
          </Tabs.List>
        </Tabs>
      </PageTitle>
      <ProblemNote error={error} title={texts.couldNotLoadBoard} />
      {isDayView ? (
        <Suspense fallback={<BoardLoader />}>
          <DayView siteIds={siteIds} />
        </Suspense>
      ) : (
        <Now />
      )}
    </BoardContext>
  );
}

function Now(): ReactElement {
  // Queues load first, and the board is useful with queues alone.
  useTopic('queues');
  return useBoard().store.isLoaded('queues') ? <NowView /> : <BoardLoader />;
}

function BoardLoader(): ReactElement {
  return (
    <Center mih="40vh">
      <Loader aria-label={texts.loading} />
    </Center>
  );
}
