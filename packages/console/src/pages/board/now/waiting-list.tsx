import { Button, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { QueueTicket } from '@usher/sdk/api-types';
import { memo, useState, type ReactElement } from 'react';
import { describeError } from '../../../components/describe-error.ts';
import { NoMatch } from '../../../components/states.tsx';
import { useChange } from '../../../data/use-api.ts';
import { texts } from '../texts.ts';
import { useBoard, useTopic } from '../use-board.ts';
import { activityName, visitorLabel } from '../labels.ts';
import { isTransfer } from '../store/waiting-tickets.ts';
import classes from './now.module.css';
import { Cell, Head } from './cell.tsx';
import { VirtualRows } from './virtual-rows.tsx';
import { Warning, WaitTime } from './wait-time.tsx';

const rowHeight = 52;

interface ListProps {
  readonly queueId: string | null;
  readonly showAll: () => void;
}

/** The waiting visitors, with wait time and position: of all queues or of one. */
export function WaitingList({ queueId, showAll }: ListProps): ReactElement {
  const { store, names } = useBoard();
  useTopic('tickets');
  useTopic('queues');
  useTopic('names');
  return (
    <VirtualRows
      label={texts.waitingVisitors}
      items={store.tickets(queueId)}
      rowHeight={rowHeight}
      className={classes['personGrid']}
      header={
        <>
          <Head>{texts.position}</Head>
          <Head>{texts.visitor}</Head>
          <Head>{texts.waiting}</Head>
          <Head>
            <span className={classes['visuallyHidden']}>{texts.action}</span>
          </Head>
        </>
      }
      empty={
        queueId !== null && store.tickets(null).length > 0 ? (
          <NoMatch clear={showAll} label={texts.showAllQueues}>
            {texts.noOneWaitingInQueue}
          </NoMatch>
        ) : (
          <Text c="dimmed">{store.isLoaded('tickets') ? texts.noOneWaiting : texts.loadingProgress}</Text>
        )
      }
      renderRow={(ticket) => {
        const queues = ticket.queue_ids.map((each) => store.queues.get(each));
        return (
          <TicketCells
            ticket={ticket}
            name={visitorLabel(names.nameOf(ticket.visitor_id), ticket.visitor_id)}
            position={store.position(ticket, queueId)}
            queues={queues.map((queue) => queue?.name ?? texts.queueAnotherSite).join(', ')}
            isUnattended={queues.every((queue) => queue?.staffed === false)}
          />
        );
      }}
    />
  );
}

interface Props {
  readonly ticket: QueueTicket;
  readonly name: string;
  readonly position: number | null;
  readonly queues: string;
  /** No operator who could serve the visitor is online. */
  readonly isUnattended: boolean;
}

const TicketCells = memo(function TicketCells(props: Props): ReactElement {
  const { ticket, name, position, queues, isUnattended } = props;
  return (
    <>
      <Cell className="tabular">
        {position === null ? <span title={texts.ringingHelp}>{texts.ringing}</span> : position}
      </Cell>
      <Cell className={classes['twoLines']}>
        <bdi title={name}>{name}</bdi>
        <small title={queues}>
          {isUnattended ? <Warning title={texts.noOperatorsOnline} text={texts.noOperatorsOnlineLabel} /> : null}
          {isTransfer(ticket) ? texts.transferOf(activityName(ticket.media)) : activityName(ticket.media)} ·{' '}
          <bdi>{queues}</bdi>
        </small>
      </Cell>
      <Cell>
        <WaitTime since={ticket.created_at} />
      </Cell>
      <Cell>{isTransfer(ticket) ? null : <Remove ticketId={ticket.id} name={name} />}</Cell>
    </>
  );
});

/** The button replaces the one that had the focus, so it takes the focus. */
function focus(button: HTMLButtonElement | null): void {
  button?.focus();
}

/**
 * Asks for confirmation, because the visitor cannot get the place back. A transfer is cancelled by the operator who started it.
 */
function Remove({ ticketId, name }: { readonly ticketId: string; readonly name: string }): ReactElement {
  const [asking, setAsking] = useState(false);
  const cancel = useChange('PATCH /queue_tickets/{ticket_id}');
  if (!asking)
    return (
      <Button
        size="compact-xs"
        variant="subtle"
        color="gray"
        c="dimmed"
        aria-label={texts.remove(name)}
        onClick={() => setAsking(true)}
      >
        {texts.removeButton}
      </Button>
    );
  return (
    <Button
      size="compact-xs"
      color="red"
      ref={focus}
      loading={cancel.isPending}
      aria-label={texts.confirmRemoveVisitor(name)}
      onBlur={() => setAsking(false)}
      onKeyDown={({ key }) => {
        if (key === 'Escape') setAsking(false);
      }}
      onClick={() =>
        cancel.mutate(
          { path: { ticket_id: ticketId }, body: { action: 'cancel' } },
          {
            onError: (error) =>
              notifications.show({ color: 'red', title: texts.couldNotRemoveVisitor, message: describeError(error) }),
          },
        )
      }
    >
      {texts.removeFromQueue}
    </Button>
  );
}
