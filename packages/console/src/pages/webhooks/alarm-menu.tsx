import { ActionIcon, Indicator, Menu, Text } from '@mantine/core';
import { BellIcon } from '@radix-ui/react-icons';
import { useQueryClient } from '@tanstack/react-query';
import type { Webhook } from '@usher/sdk/api-types';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { useNow } from '../../components/time/elapsed-time.tsx';
import { useRead } from '../../data/use-api.ts';
import { useFeedItems } from '../../live/use-live-feed.ts';
import { alarmsOf } from './alarms.ts';
import { disabledReason, nameOf } from './labels.ts';
import { texts } from './texts.ts';

/** An account has at most ten webhooks, and one of the sample data. */
const perPage = 100;
/** The feed reports a failure after an hour; until then, and after a webhook was deleted, the list is polled. */
const pollMs = 60_000;

/** A bell with the number of webhooks that fail or were disabled, and a link to each. There is no bell if all is well. */
export function WebhookAlarms(): ReactElement | null {
  const client = useQueryClient();
  const read = useRead('GET /webhooks', { query: { per_page: perPage } }, { refetchInterval: pollMs });
  useFeedItems(['webhook.failing', 'webhook.disabled', 'webhook.recovered'], () => {
    void client.invalidateQueries({ queryKey: ['GET /webhooks'] });
  });
  const alarms = alarmsOf(read.data?.data.webhooks ?? [], useNow());
  if (alarms.length === 0) return null;
  return (
    <Menu position="bottom-end" width={300}>
      <Indicator label={alarms.length} size={16} color="red" offset={4}>
        <Menu.Target>
          <ActionIcon variant="subtle" size="lg" radius="xl" aria-label={texts.webhookAlarms(alarms.length)}>
            <BellIcon aria-hidden />
          </ActionIcon>
        </Menu.Target>
      </Indicator>
      <Menu.Dropdown>
        <Menu.Label>{texts.webhookAlarms(alarms.length)}</Menu.Label>
        {alarms.map((webhook) => (
          <Menu.Item key={webhook.id} component={Link} href={`/webhooks/${webhook.id}`}>
            <Text size="sm" className="user-text" lineClamp={1}>
              {nameOf(webhook)}
            </Text>
            <Text size="sm" c="dimmed">
              {stateOf(webhook)}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function stateOf(webhook: Webhook): string {
  return webhook.enabled ? texts.failing : texts.disabledWithReason(disabledReason(webhook));
}
