import { Anchor, Badge, Button, Group, Loader, Stack, Table, Text } from '@mantine/core';
import { PlusIcon } from '@radix-ui/react-icons';
import type { Webhook } from '@usher/sdk/api-types';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { PageTitle } from '../../../components/page-title.tsx';
import { ProblemNote } from '../../../components/problem.tsx';
import { NoneOnSite } from '../../../components/states.tsx';
import { useRead } from '../../../data/use-api.ts';
import { useMe } from '../../../data/use-me.ts';
import { channelOf } from '../channels/channels.ts';
import { LastDay } from '../stats/last-day.tsx';
import { WebhookStatus } from '../stats/webhook-status.tsx';
import { texts } from '../texts.ts';
import { nameOf } from '../labels.ts';

/** An account has at most ten webhooks, and one of the sample data. */
const perPage = 100;
/** An event reports a failure only after an hour, so the list is polled. */
const pollMs = 5_000;

export function WebhookList(): ReactElement {
  const { siteId } = useMe();
  const read = useRead('GET /webhooks', { query: { per_page: perPage } }, { refetchInterval: pollMs });
  const all = read.data?.data.webhooks;
  const webhooks = all?.filter(
    ({ covered_site_ids: sites }) => siteId === null || sites.length === 0 || sites.includes(siteId),
  );
  return (
    <>
      <PageTitle title={texts.webhooks}>
        <Button component={Link} href="/webhooks/catalogue" variant="default">
          {texts.eventCatalogue}
        </Button>
        <Button component={Link} href="/webhooks/new" leftSection={<PlusIcon aria-hidden />}>
          {texts.newWebhook}
        </Button>
      </PageTitle>
      <ProblemNote error={read.error} />
      {webhooks === undefined ? (
        read.isError ? null : (
          <Loader size="sm" aria-label={texts.loading} />
        )
      ) : webhooks.length === 0 && all !== undefined && all.length > 0 ? (
        <NoneOnSite what="webhooks" />
      ) : webhooks.length === 0 ? (
        <NoWebhooks />
      ) : (
        <Webhooks webhooks={webhooks} />
      )}
    </>
  );
}

function NoWebhooks(): ReactElement {
  return (
    <Stack gap="xs" maw={560}>
      <Text fw={600}>{texts.noWebhooksYet}</Text>
      <Text>{texts.noWebhooksYetHelp}</Text>
      <Button component={Link} href="/webhooks/new" w="fit-content">
        {texts.addWebhook}
      </Button>
    </Stack>
  );
}

function Webhooks({ webhooks }: { readonly webhooks: readonly Webhook[] }): ReactElement {
  return (
    <Table verticalSpacing="sm" highlightOnHover layout="fixed" aria-label={texts.webhooks}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{texts.destination}</Table.Th>
          <Table.Th visibleFrom="sm" w={150}>
            {texts.events}
          </Table.Th>
          <Table.Th visibleFrom="sm" w={180}>
            {texts.status}
          </Table.Th>
          <Table.Th visibleFrom="md" w={270}>
            {texts.last24Hours}
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {webhooks.map((webhook) => (
          <Table.Tr key={webhook.id}>
            <Table.Td>
              <Destination webhook={webhook} />
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <Text size="sm">{texts.eventTypeCount(webhook.events.length)}</Text>
              <Sites ids={webhook.covered_site_ids} />
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <WebhookStatus webhook={webhook} />
            </Table.Td>
            <Table.Td visibleFrom="md">
              <LastDay id={webhook.id} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Destination({ webhook }: { readonly webhook: Webhook }): ReactElement {
  const { id, url } = webhook;
  return (
    <Stack gap={4}>
      <Anchor component={Link} href={`/webhooks/${id}`} fw={600} className="user-text" lineClamp={2} title={url}>
        {nameOf(webhook)}
      </Anchor>
      <Group gap={6} wrap="nowrap">
        <Badge variant="default" size="sm" tt="none" flex="none">
          {channelOf(webhook).badgeOf(webhook)}
        </Badge>
        <Text size="sm" c="dimmed" className="user-text" lineClamp={1} title={url}>
          {url}
        </Text>
      </Group>
      <Group gap={6} hiddenFrom="sm">
        <WebhookStatus webhook={webhook} />
      </Group>
    </Stack>
  );
}

/**
 * The sites whose events the webhook receives now. Without the super_manager role anywhere, its creator's webhook receives none.
 */
function Sites({ ids }: { readonly ids: readonly string[] }): ReactElement {
  const { sites } = useMe();
  const names = ids.map((id) => sites.find((site) => site.id === id)?.name ?? texts.anotherSite).join(', ');
  const isAll = sites.length > 1 && sites.every(({ id }) => ids.includes(id));
  return (
    <Text size="sm" c="dimmed" className="user-text" lineClamp={2} title={names}>
      {isAll ? texts.allSites : ids.length === 0 ? texts.noSites : names}
    </Text>
  );
}
