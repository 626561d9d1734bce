import { ActionIcon, Box, Button, Drawer, Group, Menu, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { ArrowLeftIcon, ChevronDownIcon, InfoCircledIcon } from '@radix-ui/react-icons';
import type { ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import { describeError } from '../../../components/describe-error.ts';
import { mediumName } from '../../../components/medium.ts';
import { ElapsedTime } from '../../../components/time/elapsed-time.tsx';
import { useChange } from '../../../data/use-api.ts';
import { callConsents } from '../../../live/call-consents.ts';
import { useCallObstacle } from '../calls/use-call-obstacle.ts';
import { texts } from '../texts.ts';
import type { Conversation } from './conversation.ts';
import { isOpen, transferOf } from './selectors.ts';
import classes from '../desk.module.css';
import { EndDialog } from './end-dialog.tsx';
import { endReasonLabels } from '../labels.ts';
import { useAltKey } from '../shortcuts.tsx';
import { TransferDialog } from '../transfers/transfer-dialog.tsx';
import { useDesk } from '../use-desk.ts';
import { VisitorPanel } from '../visitor/visitor-panel.tsx';

interface Props {
  readonly chat: Conversation;
  readonly name: string;
}

/** The visitor, the duration and the actions. */
export function ChatHead({ chat, name }: Props): ReactElement {
  const [detailsShown, details] = useDisclosure();
  return (
    <div className={classes['head'] ?? ''}>
      <Group gap="xs" wrap="nowrap" miw={0} className={classes['who'] ?? ''}>
        <ActionIcon component={Link} href="/desk" variant="subtle" hiddenFrom="sm" aria-label={texts.backToList}>
          <ArrowLeftIcon aria-hidden />
        </ActionIcon>
        <Box miw={0}>
          <Text fw={650} truncate title={name} component="h2" size="md">
            <bdi>{name}</bdi>
          </Text>
          <StatusLine chat={chat} />
        </Box>
      </Group>
      <Group gap={6} wrap="nowrap" flex="none">
        {isOpen(chat) ? <OpenActions chat={chat} /> : <EndedActions chat={chat} />}
        <ActionIcon variant="default" size={30} hiddenFrom="lg" aria-label={texts.visitor} onClick={details.open}>
          <InfoCircledIcon aria-hidden />
        </ActionIcon>
      </Group>
      <Drawer opened={detailsShown} onClose={details.close} position="right" title={texts.visitor} size={340}>
        <VisitorPanel chat={chat} />
      </Drawer>
    </div>
  );
}

function StatusLine({ chat }: { readonly chat: Conversation }): ReactElement {
  const { engagement } = chat;
  const { media, started_at: at, state, end_reason: reason } = engagement;
  return (
    <Text size="xs" c="dimmed" truncate>
      {isOpen(chat) ? (
        <>
          {mediumName(media)} · <ElapsedTime at={at} />
        </>
      ) : state === 'ended' && reason !== null ? (
        endReasonLabels[reason]
      ) : (
        texts.transferredToColleague
      )}
    </Text>
  );
}

const callKinds = [
  { label: texts.audioCall, body: { audio: 'two_way', video: null } },
  { label: texts.videoCall, body: { audio: 'two_way', video: 'two_way' } },
  { label: texts.oneWayVideo, body: { audio: 'two_way', video: 'one_way' } },
] as const;

function OpenActions({ chat }: { readonly chat: Conversation }): ReactElement {
  const [endShown, ending] = useDisclosure();
  const [transferShown, transfer] = useDisclosure();
  useAltKey('KeyX', ending.open);
  return (
    <>
      <CallMenu chat={chat} />
      <Button variant="default" size="xs" onClick={transfer.open} disabled={transferOf(chat) !== null}>
        {texts.transfer}
      </Button>
      <Button variant="light" color="red" size="xs" onClick={ending.open}>
        {texts.end}
      </Button>
      <EndDialog chat={chat} isShown={endShown} close={ending.close} />
      {transferShown ? <TransferDialog chat={chat} close={transfer.close} /> : null}
    </>
  );
}

/** Invites the visitor to a call, which starts when the visitor accepts, or says why that is not possible now. */
function CallMenu({ chat }: { readonly chat: Conversation }): ReactElement {
  const desk = useDesk();
  const obstacle = useCallObstacle(chat);
  const requestUpgrade = useChange('POST /engagements/{engagement_id}/media_upgrade_requests', {
    onDone: ({ data }) => {
      desk.apply({ type: 'upgrade', upgrade: data });
      callConsents.record(chat.id, 'requested', data, data.id);
    },
  });
  const onError = (error: Error): void => {
    notifications.show({ color: 'red', title: texts.couldNotSendRequest, message: describeError(error) });
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" size="xs" rightSection={<ChevronDownIcon aria-hidden />}>
          {texts.call}
        </Button>
      </Menu.Target>
      <Menu.Dropdown maw={280}>
        <Menu.Label>{obstacle === null ? texts.inviteVisitorTo : texts.callObstacles[obstacle]}</Menu.Label>
        {callKinds.map(({ label, body }) => (
          <Menu.Item
            key={label}
            disabled={obstacle !== null}
            onClick={() => requestUpgrade.mutate({ path: { engagement_id: chat.id }, body }, { onError })}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function EndedActions({ chat }: { readonly chat: Conversation }): ReactElement {
  const desk = useDesk();
  const [, go] = useLocation();
  const dismiss = (): void => {
    desk.dismiss(chat.id);
    go('/desk');
  };
  useAltKey('KeyX', dismiss);
  return (
    <Button variant="default" size="xs" onClick={dismiss}>
      {texts.close}
    </Button>
  );
}
