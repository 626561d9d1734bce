import { Button, Text } from '@mantine/core';
import type { Engagement } from '@usher/sdk/api-types';
import { memo, type ReactElement } from 'react';
import { RichText } from '../../../components/rich-text.tsx';
import { ElapsedTime } from '../../../components/time/elapsed-time.tsx';
import { NoMatch } from '../../../components/states.tsx';
import { texts } from '../texts.ts';
import { useBoard, useTopic } from '../use-board.ts';
import { activityName, visitorLabel } from '../labels.ts';
import classes from './now.module.css';
import { Cell, Head } from './cell.tsx';
import { VirtualRows } from './virtual-rows.tsx';

const rowHeight = 52;

interface ListProps {
  readonly queueId: string | null;
  readonly showAll: () => void;
  readonly view: (engagementId: string) => void;
}

/** The active conversations with visitor, operator, medium and duration: all of them, or those from one queue. */
export function EngagementList({ queueId, showAll, view }: ListProps): ReactElement {
  const { store, names } = useBoard();
  useTopic('engagements');
  useTopic('operators');
  useTopic('names');
  const all = store.engagements();
  const shown = queueId === null ? all : all.filter(({ queue_id }) => queue_id === queueId);
  return (
    <VirtualRows
      label={texts.activeConversations}
      items={shown}
      rowHeight={rowHeight}
      className={classes['engagedGrid']}
      header={
        <>
          <Head>{texts.visitorAndOperator}</Head>
          <Head>{texts.since}</Head>
          <Head>
            <span className={classes['visuallyHidden']}>{texts.action}</span>
          </Head>
        </>
      }
      empty={
        all.length > 0 ? (
          <NoMatch clear={showAll} label={texts.showAllQueues}>
            {texts.noActiveConversationsFromQueue}
          </NoMatch>
        ) : (
          <Text c="dimmed">{store.isLoaded('engagements') ? texts.noActiveConversations : texts.loadingProgress}</Text>
        )
      }
      renderRow={(engagement) => (
        <EngagementCells
          engagement={engagement}
          visitor={visitorLabel(names.nameOf(engagement.visitor_id), engagement.visitor_id)}
          operator={store.operator(engagement.operator_id)?.name ?? texts.operatorAnotherSite}
          queue={engagement.queue_id === null ? null : (store.queues.get(engagement.queue_id)?.name ?? null)}
          view={view}
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
  readonly view: (engagementId: string) => void;
}

const EngagementCells = memo(function EngagementCells(props: Props): ReactElement {
  const { engagement, visitor, operator, queue, view } = props;
  return (
    <>
      <Cell className={classes['twoLines']}>
        <span title={texts.visitorWithOperator(visitor, operator)}>
          <RichText
            text={texts.visitorWithOperatorRich}
            values={{ visitor: <bdi>{visitor}</bdi>, operator: <bdi>{operator}</bdi> }}
          />
        </span>
        <small>
          {activityName(engagement.media)}
          {queue === null ? '' : ' · '}
          <bdi>{queue}</bdi>
        </small>
      </Cell>
      <Cell>
        <ElapsedTime at={engagement.current_sub_engagement.started_at} />
      </Cell>
      <Cell>
        <Button
          size="compact-xs"
          variant="subtle"
          aria-label={texts.viewConversation(visitor, operator)}
          onClick={() => view(engagement.id)}
        >
          {texts.view}
        </Button>
      </Cell>
    </>
  );
});
