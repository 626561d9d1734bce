import { Anchor, Badge, Button, Group, Loader, Tabs, Text } from '@mantine/core';
import { PaperPlaneIcon } from '@radix-ui/react-icons';
import { useDisclosure } from '@mantine/hooks';
import type { Webhook } from '@usher/sdk/api-types';
import type { ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import { PageTitle } from '../../../components/page-title.tsx';
import { ProblemNote } from '../../../components/problem.tsx';
import { useRead } from '../../../data/use-api.ts';
import { Deliveries } from '../deliveries/deliveries.tsx';
import { DeliveryDrawer } from '../deliveries/delivery-drawer.tsx';
import { channelOf } from '../channels/channels.ts';
import { Outcomes } from '../stats/outcomes.tsx';
import { Recover } from '../deliveries/recover.tsx';
import { texts } from '../texts.ts';
import { Settings } from './settings.tsx';
import { WebhookStatus } from '../stats/webhook-status.tsx';
import { SwitchButton } from './switch-button.tsx';
import { TestEvent } from '../deliveries/test-event.tsx';
import { nameOf } from '../labels.ts';

const tabs = {
  deliveries: texts.deliveries,
  outcomes: texts.deliveryStats,
  recover: texts.recover,
  settings: texts.settings,
} as const;
const pollMs = 5_000;

interface Props {
  readonly id: string;
  readonly tab: string;
  readonly deliveryId: string | null;
}

/** One webhook: deliveries, statistics, recovery and settings. */
export function WebhookPage({ id, tab, deliveryId }: Props): ReactElement {
  const read = useRead('GET /webhooks/{webhook_id}', { path: { webhook_id: id } }, { refetchInterval: pollMs });
  const [, go] = useLocation();
  if (read.data === undefined)
    return (
      <>
        <PageTitle title={texts.webhook} />
        {read.isError ? (
          <ProblemNote error={read.error} title={texts.couldNotLoadWebhook} />
        ) : (
          <Loader size="sm" aria-label={texts.loading} />
        )}
        <Anchor component={Link} href="/webhooks" mt="md" display="block" w="fit-content">
          {texts.allWebhooks}
        </Anchor>
      </>
    );
  const { data: webhook, etag } = read.data;
  return (
    <>
      <Anchor component={Link} href="/webhooks" size="sm">
        {texts.allWebhooks}
      </Anchor>
      <Head webhook={webhook} etag={etag} isCovered={deliveryId !== null} />
      <Tabs
        value={tab in tabs ? tab : 'deliveries'}
        onChange={(next) => go(`/webhooks/${id}/${next ?? 'deliveries'}`)}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          {Object.entries(tabs).map(([value, label]) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="deliveries">
          <Deliveries webhook={webhook} />
          <DeliveryDrawer webhook={webhook} id={deliveryId} />
        </Tabs.Panel>
        <Tabs.Panel value="outcomes">
          <Outcomes id={id} />
        </Tabs.Panel>
        <Tabs.Panel value="recover">
          <Recover webhook={webhook} />
        </Tabs.Panel>
        <Tabs.Panel value="settings">
          <Settings webhook={webhook} etag={etag} readAgain={async () => (await read.refetch()).data} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

interface HeadProps {
  readonly webhook: Webhook;
  readonly etag: string | null;
  /** The drawer of a delivery is open. */
  readonly isCovered: boolean;
}

function Head({ webhook, etag, isCovered }: HeadProps): ReactElement {
  const [testing, { open, close }] = useDisclosure();
  const { url } = webhook;
  return (
    <>
      <PageTitle title={nameOf(webhook)}>
        <SwitchButton webhook={webhook} etag={etag} />
        <Button
          onClick={open}
          disabled={!webhook.enabled}
          leftSection={<PaperPlaneIcon aria-hidden />}
          title={webhook.enabled ? undefined : texts.enableWebhookFirst}
        >
          {texts.sendTestEvent}
        </Button>
      </PageTitle>
      <Group gap="xs" mb="md" mt={-8}>
        <Badge variant="default" tt="none">
          {channelOf(webhook).badgeOf(webhook)}
        </Badge>
        <Text size="sm" className="user-text" lineClamp={2} title={url}>
          {url}
        </Text>
        <WebhookStatus webhook={webhook} />
      </Group>
      {testing ? <TestEvent webhook={webhook} isCovered={isCovered} onClose={close} /> : null}
    </>
  );
}
