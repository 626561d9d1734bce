import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { ReactElement } from 'react';
import { describeError } from '../../../components/describe-error.ts';
import { useChange } from '../../../data/use-api.ts';
import { callConsents } from '../../../live/call-consents.ts';
import type { Conversation } from '../conversation/conversation.ts';
import classes from '../desk.module.css';
import { upgradeKind } from '../labels.ts';
import { pendingUpgrade } from '../conversation/selectors.ts';
import { texts } from '../texts.ts';
import { useDesk } from '../use-desk.ts';
import { useCallObstacle } from './use-call-obstacle.ts';

/** A pending request for a call. */
export function UpgradeBar({ chat }: { readonly chat: Conversation }): ReactElement | null {
  const desk = useDesk();
  const change = useChange('PATCH /engagements/{engagement_id}/media_upgrade_requests/{upgrade_id}', {
    onDone: ({ data }) => {
      desk.apply({ type: 'upgrade', upgrade: data });
      if (data.state === 'accepted') callConsents.record(data.engagement_id, 'accepted', data);
    },
  });
  const upgrade = pendingUpgrade(chat);
  const obstacle = useCallObstacle(chat);
  if (upgrade === null) return null;
  const answer = (action: 'accept' | 'decline' | 'cancel'): void =>
    change.mutate(
      { path: { engagement_id: chat.id, upgrade_id: upgrade.id }, body: { action } },
      {
        onError: (error) =>
          notifications.show({ color: 'red', title: texts.couldNotAnswerRequest, message: describeError(error) }),
      },
    );
  return (
    <Group className={classes['bar'] ?? ''} justify="space-between" gap="xs" component="output">
      <Text size="sm">
        {upgrade.target === 'operator'
          ? texts.visitorInvites[upgradeKind(upgrade)]
          : texts.youInvited[upgradeKind(upgrade)]}
        {upgrade.target === 'operator' && obstacle !== null ? ` ${texts.callObstacles[obstacle]}` : ''}
      </Text>
      {upgrade.target === 'operator' ? (
        <Group gap={6}>
          <Button
            size="compact-sm"
            onClick={() => answer('accept')}
            loading={change.isPending}
            disabled={obstacle !== null}
          >
            {texts.accept}
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => answer('decline')}>
            {texts.decline}
          </Button>
        </Group>
      ) : (
        <Button size="compact-sm" variant="default" onClick={() => answer('cancel')} loading={change.isPending}>
          {texts.cancel}
        </Button>
      )}
    </Group>
  );
}
