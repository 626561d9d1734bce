import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { ReactElement } from 'react';
import { RichText } from '../../../components/rich-text.tsx';
import { describeError } from '../../../components/describe-error.ts';
import { useQueueName } from '../../../data/use-queue-name.ts';
import { useSession } from '../../../session/use-session.ts';
import { texts } from '../texts.ts';
import { useColleagues } from './use-colleagues.ts';
import type { Conversation, Transfer } from '../conversation/conversation.ts';
import { transferOf } from '../conversation/selectors.ts';
import classes from '../desk.module.css';
import { useDesk } from '../use-desk.ts';

/** A pending transfer, with a button to cancel it. */
export function TransferBar({ chat }: { readonly chat: Conversation }): ReactElement | null {
  const transfer = transferOf(chat);
  return transfer === null ? null : <PendingTransfer chat={chat} transfer={transfer} />;
}

function PendingTransfer({
  chat,
  transfer,
}: {
  readonly chat: Conversation;
  readonly transfer: Transfer;
}): ReactElement {
  const { api } = useSession();
  const desk = useDesk();
  const { site_id: siteId } = chat.engagement;
  const colleagues = useColleagues([siteId], transfer.kind === 'request');
  const queue = useQueueName(siteId, transfer.kind === 'ticket' ? transfer.to : null);
  const name = transfer.kind === 'request' ? colleagues.find(({ id }) => id === transfer.to)?.name : queue;
  const cancel = async (): Promise<void> => {
    const body = { action: 'cancel' } as const;
    try {
      if (transfer.kind === 'request')
        await api.call('PATCH /transfer_requests/{request_id}', { path: { request_id: transfer.id }, body });
      else await api.call('PATCH /transfer_tickets/{ticket_id}', { path: { ticket_id: transfer.id }, body });
      desk.apply({ type: 'transfer', id: chat.id, transfer: null });
    } catch (error) {
      notifications.show({ color: 'red', title: texts.couldNotCancelTransfer, message: describeError(error) });
    }
  };
  return (
    <Group className={classes['bar'] ?? ''} justify="space-between" gap="xs" component="output">
      <Text size="sm">
        <RichText
          text={texts.transferring}
          values={{ name: <bdi>{name ?? (transfer.kind === 'request' ? texts.aColleague : texts.aQueue)}</bdi> }}
        />
      </Text>
      <Button size="compact-sm" variant="default" onClick={() => void cancel()}>
        {texts.cancel}
      </Button>
    </Group>
  );
}
