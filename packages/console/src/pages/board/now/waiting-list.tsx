import { Button, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { QueueTicket } from '@usher/client/api-types';
import { memo, useState, type ReactElement } from 'react';
import { inWords } from '../../../components/in-words.ts';
import { Since } from '../../../components/since.tsx';
import { useChange } from '../../../data/use-api.ts';
import { useBoard, useTopic } from '../use-board.ts';
import { mediumNames, visitorInWords } from '../words.ts';
import classes from './now.module.css';
import { Cell, Head } from './table-parts.tsx';
import { VirtualRows } from './virtual-rows.tsx';

const rowHeight = 52;

/** Who waits, since when, and where in the line: everywhere, or in one queue. */
export function WaitingList({ queueId }: { readonly queueId: string | null }): ReactElement {
  const { store, names } = useBoard();
  useTopic('tickets');
  useTopic('names');
  return (
    <VirtualRows
      label="Who waits"
      things={store.tickets(queueId)}
      rowHeight={rowHeight}
      className={classes['personGrid']}
      header={
        <>
          <Head>Place</Head>
          <Head>Visitor</Head>
          <Head>Since</Head>
          <Head>
            <span className={classes['unseen']}>Action</span>
          </Head>
        </>
      }
      empty={<Text c="dimmed">{store.has('tickets') ? 'Nobody waits.' : 'Reading who waits…'}</Text>}
      renderRow={(ticket) => {
        const queues = ticket.queue_ids.map((each) => store.queues.get(each)?.name ?? 'a queue of another site');
        return (
          <TicketCells
            ticket={ticket}
            name={visitorInWords(names.nameOf(ticket.visitor_id), ticket.visitor_id)}
            position={store.position(ticket, queueId)}
            queues={queues.join(', ')}
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
}

const TicketCells = memo(function TicketCells({ ticket, name, position, queues }: Props): ReactElement {
  return (
    <>
      <Cell className="tabular">
        {position === null ? <span title="Under offer to an operator">offer</span> : position}
      </Cell>
      <Cell className={classes['two']}>
        <bdi title={name}>{name}</bdi>
        <small title={queues}>
          {mediumNames[ticket.media]} · <bdi>{queues}</bdi>
        </small>
      </Cell>
      <Cell>
        <Since at={ticket.created_at} />
      </Cell>
      <Cell>
        <SendAway ticketId={ticket.id} name={name} />
      </Cell>
    </>
  );
});

/** It stands where the other button was, which had the focus. */
function focus(button: HTMLButtonElement | null): void {
  button?.focus();
}

/** Asks once more before it does: there is no way back into the line. */
function SendAway({ ticketId, name }: { readonly ticketId: string; readonly name: string }): ReactElement {
  const [asking, setAsking] = useState(false);
  const cancel = useChange('PATCH /queue_tickets/{ticket_id}');
  if (!asking)
    return (
      <Button
        size="compact-xs"
        variant="subtle"
        color="gray"
        c="dimmed"
        aria-label={`Cancel the ticket of ${name}`}
        onClick={() => setAsking(true)}
      >
        Cancel
      </Button>
    );
  return (
    <Button
      size="compact-xs"
      color="red"
      ref={focus}
      loading={cancel.isPending}
      aria-label={`Send ${name} away`}
      onBlur={() => setAsking(false)}
      onKeyDown={({ key }) => {
        if (key === 'Escape') setAsking(false);
      }}
      onClick={() =>
        cancel.mutate(
          { path: { ticket_id: ticketId }, body: { action: 'cancel' } },
          {
            onError: (error) => notifications.show({ color: 'red', title: 'Not canceled', message: inWords(error) }),
          },
        )
      }
    >
      Send away?
    </Button>
  );
}
