import { Button, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { Operator } from '@usher/sdk/api-types';
import { memo, type ReactElement } from 'react';
import { Link } from 'wouter';
import { RichText } from '../../../components/rich-text.tsx';
import { describeError } from '../../../components/describe-error.ts';
import { ElapsedTime } from '../../../components/time/elapsed-time.tsx';
import { NoMatch } from '../../../components/states.tsx';
import { useChange } from '../../../data/use-api.ts';
import { leaseSeconds } from '../../../live/lease.ts';
import { staffs, type Load } from '../store/staffing.ts';
import { texts } from '../texts.ts';
import { useBoard, useTopic } from '../use-board.ts';
import { activityName, describeOperator, presenceSince, operatorState } from '../labels.ts';
import classes from './now.module.css';
import { Cell, Head } from './cell.tsx';
import { VirtualRows } from './virtual-rows.tsx';

const rowHeight = 52;

interface ListProps {
  readonly queueId: string | null;
  readonly showAll: () => void;
}

/** The operators with their state and since when: all of them, or those who staff a queue. */
export function OperatorList({ queueId, showAll }: ListProps): ReactElement {
  const { store } = useBoard();
  useTopic('operators');
  useTopic('queues');
  const queue = queueId === null ? undefined : store.queues.get(queueId);
  const shown = queue === undefined ? store.operators() : store.operators().filter((each) => staffs(each, queue));
  return (
    <VirtualRows
      label={texts.operators}
      items={shown}
      rowHeight={rowHeight}
      className={classes['engagedGrid']}
      header={
        <>
          <Head>{texts.operator}</Head>
          <Head>{texts.since}</Head>
          <Head>
            <span className={classes['visuallyHidden']}>{texts.action}</span>
          </Head>
        </>
      }
      empty={<NoOperators isLoaded={store.isLoaded('operators')} showAll={queue === undefined ? null : showAll} />}
      renderRow={(operator) => <OperatorCells operator={operator} load={store.load(operator.id)} />}
    />
  );
}

interface NoOperatorsProps {
  readonly isLoaded: boolean;
  /** Shows the operators of all queues; `null` when they are shown already. */
  readonly showAll: (() => void) | null;
}

function NoOperators({ isLoaded, showAll }: NoOperatorsProps): ReactElement {
  if (!isLoaded) return <Text c="dimmed">{texts.loadingProgress}</Text>;
  if (showAll !== null)
    return (
      <NoMatch clear={showAll} label={texts.showAllOperators}>
        {texts.noOnlineOperatorsServeQueue}
      </NoMatch>
    );
  return (
    <Text c="dimmed">
      <RichText text={texts.noOperatorsYet} values={{ link: <Link href="/people">{texts.addOperator}</Link> }} />
    </Text>
  );
}

const OperatorCells = memo(function OperatorCells({
  operator,
  load,
}: {
  readonly operator: Operator;
  readonly load: Load;
}): ReactElement {
  const state = operatorState(operator, load);
  const since = presenceSince(operator);
  const media = operator.media.map(activityName).join(', ');
  return (
    <>
      <Cell className={classes['twoLines']}>
        <bdi title={operator.name}>{operator.name}</bdi>
        <small>
          <span className={classes['status']} data-status={statusOf[state]}>
            {describeOperator(operator, load)}
          </span>
          {operator.available ? ` · ${media}` : ''}
          {operator.presence_reason === null ? null : (
            <>
              {' · '}
              <bdi>{operator.presence_reason}</bdi>
            </>
          )}
        </small>
      </Cell>
      <Cell>{since === null ? '–' : <ElapsedTime at={since} />}</Cell>
      <Cell>
        <SetPresence operator={operator} />
      </Cell>
    </>
  );
});

/** The operator states reuse the colours of queue statuses. */
const statusOf = { free: 'opened', busy: 'opened', full: 'full', away: 'closed' } as const;

function SetPresence({ operator }: { readonly operator: Operator }): ReactElement {
  const change = useChange('PUT /operators/{operator_id}/presence');
  const { id, name, available, media, presence_expires_at } = operator;
  return (
    <Button
      size="compact-xs"
      variant="subtle"
      color="gray"
      c="dimmed"
      loading={change.isPending}
      aria-label={available ? texts.setNameAway(name) : texts.setNameAvailable(name)}
      onClick={() =>
        change.mutate(
          {
            path: { operator_id: id },
            body: {
              available: !available,
              // Keep the media they accepted last.
              ...(media.length === 0 ? {} : { media }),
              // Their open page renews the lease. Without an open page the lease expires, so nobody is shown as away at their
              // desk.
              ...(available && presence_expires_at !== null ? { expires_in_sec: leaseSeconds } : {}),
            },
          },
          {
            onError: (error) =>
              notifications.show({
                color: 'red',
                title: texts.couldNotChangeAvailability,
                message: describeError(error),
              }),
          },
        )
      }
    >
      {available ? texts.setAway : texts.setAvailable}
    </Button>
  );
}
