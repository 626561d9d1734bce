import { Button, Text } from '@mantine/core';
import type { Engagement } from '@usher/client/api-types';
import { memo, type ReactElement } from 'react';
import { Since } from '../../../components/since.tsx';
import { NoMatch } from '../../../components/states.tsx';
import { useBoard, useTopic } from '../use-board.ts';
import { activityName, visitorInWords } from '../words.ts';
import classes from './now.module.css';
import { Cell, Head } from './table-parts.tsx';
import { VirtualRows } from './virtual-rows.tsx';

const rowHeight = 52;

interface ListProps {
  readonly queueId: string | null;
  readonly showAll: () => void;
  readonly look: (engagementId: string) => void;
}

/** Who is engaged with whom, since when and by what: everywhere, or from one queue. */
export function EngagedList({ queueId, showAll, look }: ListProps): ReactElement {
  const { store, names } = useBoard();
  useTopic('engagements');
  useTopic('operators');
  useTopic('names');
  const all = store.engagements();
  const shown = queueId === null ? all : all.filter(({ queue_id }) => queue_id === queueId);
  return (
    <VirtualRows
      label="Who is engaged"
      things={shown}
      rowHeight={rowHeight}
      className={classes['engagedGrid']}
      header={
        <>
          <Head>Visitor and operator</Head>
          <Head>Since</Head>
          <Head>
            <span className={classes['unseen']}>Action</span>
          </Head>
        </>
      }
      empty={
        all.length > 0 ? (
          <NoMatch clear={showAll} label="Show all queues">
            No active conversations from this queue
          </NoMatch>
        ) : (
          <Text c="dimmed">{store.has('engagements') ? 'No active conversations' : 'Loading…'}</Text>
        )
      }
      renderRow={(engagement) => (
        <EngagementCells
          engagement={engagement}
          visitor={visitorInWords(names.nameOf(engagement.visitor_id), engagement.visitor_id)}
          operator={store.operator(engagement.operator_id)?.name ?? 'an operator of another site'}
          queue={engagement.queue_id === null ? null : (store.queues.get(engagement.queue_id)?.name ?? null)}
          look={look}
        />
      )}
    />
  );
}

interface Props {
  readonly engagement: Engagement;
  readonly visitor: string;
  readonly operator: string;
  readonly queue: string | null;
  readonly look: (engagementId: string) => void;
}

const EngagementCells = memo(function EngagementCells(props: Props): ReactElement {
  const { engagement, visitor, operator, queue, look } = props;
  return (
    <>
      <Cell className={classes['two']}>
        <span title={`${visitor} with ${operator}`}>
          <bdi>{visitor}</bdi> with <bdi>{operator}</bdi>
        </span>
        <small>
          {activityName(engagement.media)}
          {queue === null ? '' : ' · '}
          <bdi>{queue}</bdi>
        </small>
      </Cell>
      <Cell>
        <Since at={engagement.current_sub_engagement.started_at} />
      </Cell>
      <Cell>
        <Button
          size="compact-xs"
          variant="subtle"
          aria-label={`View the conversation of ${visitor} with ${operator}`}
          onClick={() => look(engagement.id)}
        >
          View
        </Button>
      </Cell>
    </>
  );
});
