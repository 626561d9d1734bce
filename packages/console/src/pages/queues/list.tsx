import { Anchor, Button, Center, Loader, Paper, Stack, Table, Text, TextInput } from '@mantine/core';
import { MagnifyingGlassIcon } from '@radix-ui/react-icons';
import { useDeferredValue, useState, type ReactElement } from 'react';
import { Link } from 'wouter';
import { PageTitle } from '../../components/page-title.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { describeQueue, waitingCount } from '../../components/queue-status.ts';
import { NoMatch, NoneOnSite } from '../../components/states.tsx';
import { useMe } from '../../data/use-me.ts';
import { overflowQueueName } from './overflow-queue-name.ts';
import { StatusBadge } from './status-badge.tsx';
import { texts } from './texts.ts';
import { usePolicies, useQueues, type Queue } from './use-queues.ts';

/** Nobody reads more rows than this: searching is quicker. */
const maxRows = 200;

export function QueueList(): ReactElement {
  const me = useMe();
  const queues = useQueues();
  const [search, setSearch] = useState('');
  const text = useDeferredValue(search.trim().toLowerCase());
  const all = queues.data?.data.queues ?? [];
  const siteQueues = all.filter(({ site_id }) => me.siteIds.includes(site_id));
  const found = siteQueues.filter(
    ({ name, description }) => name.toLowerCase().includes(text) || (description ?? '').toLowerCase().includes(text),
  );
  return (
    <>
      <PageTitle title={texts.queues}>
        {siteQueues.length === 0 ? null : (
          <TextInput
            aria-label={texts.searchQueues}
            placeholder={texts.search}
            size="sm"
            leftSection={<MagnifyingGlassIcon />}
            value={search}
            onChange={(event) => setSearch(event.currentTarget.value)}
          />
        )}
        {me.can('super_manager', me.siteId ?? undefined) ? (
          <Button component={Link} href="/queues/new">
            {texts.newQueue}
          </Button>
        ) : null}
      </PageTitle>
      <ProblemNote error={queues.error} title={texts.couldNotLoadQueues} />
      {queues.isPending && me.sites.length > 0 ? (
        <Center mih="30vh">
          <Loader aria-label={texts.loading} />
        </Center>
      ) : siteQueues.length === 0 && all.length > 0 ? (
        <NoneOnSite what="queues" />
      ) : found.length === 0 ? (
        <NoQueues isFiltered={siteQueues.length > 0} clear={() => setSearch('')} />
      ) : (
        <QueueTable queues={found.slice(0, maxRows)} all={all} />
      )}
      {found.length > maxRows ? (
        <Text c="dimmed" size="sm" mt="sm">
          {texts.moreQueues(found.length - maxRows)}
        </Text>
      ) : null}
    </>
  );
}

function NoQueues({ isFiltered, clear }: { readonly isFiltered: boolean; readonly clear: () => void }): ReactElement {
  if (isFiltered) return <NoMatch clear={clear}>{texts.noMatchingQueues}</NoMatch>;
  return (
    <Paper p="xl" withBorder>
      <Stack align="center" gap="xs">
        <Text fw={600}>{texts.noQueuesYet}</Text>
        <Text c="dimmed" size="sm" ta="center">
          {texts.noQueuesYetHelp}
        </Text>
      </Stack>
    </Paper>
  );
}

function QueueTable({
  queues,
  all,
}: {
  readonly queues: readonly Queue[];
  readonly all: readonly Queue[];
}): ReactElement {
  const me = useMe();
  const policies = usePolicies();
  const policyNames = new Map(policies.data?.data.scheduling_policies.map(({ id, name }) => [id, name]));
  const byId = new Map(all.map((queue) => [queue.id, queue]));
  const siteNames = new Map(me.sites.map(({ id, name }) => [id, name]));
  const showsSite = me.siteIds.length > 1;
  const hoursOf = ({ scheduling_policy_id: id }: Queue): string =>
    id === null ? texts.always : (policyNames.get(id) ?? texts.byPolicy);
  const fallbackOf = ({ fallback_queue_id: id }: Queue): string =>
    id === null ? '–' : (byId.get(id)?.name ?? texts.onAnotherSite);
  return (
    <Table verticalSpacing="xs" highlightOnHover layout="fixed">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{texts.queue}</Table.Th>
          {showsSite ? (
            <Table.Th visibleFrom="lg" w="14%">
              {texts.site}
            </Table.Th>
          ) : null}
          <Table.Th w={{ base: 150, md: 230 }}>{texts.status}</Table.Th>
          <Table.Th visibleFrom="sm" ta="right" w={110}>
            {texts.waiting}
          </Table.Th>
          <Table.Th visibleFrom="md" w="16%">
            {texts.hours}
          </Table.Th>
          <Table.Th visibleFrom="md" w="16%">
            {texts.fallback}
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {queues.map((queue) => (
          <Table.Tr key={queue.id}>
            <Table.Td>
              <Anchor
                component={Link}
                href={`/queues/${queue.id}`}
                fw={600}
                lineClamp={2}
                className="user-text"
                title={queue.name}
              >
                {queue.name}
              </Anchor>
              {queue.description === null ? null : (
                <Text size="xs" c="dimmed" lineClamp={1} className="user-text" title={queue.description}>
                  {queue.description}
                </Text>
              )}
            </Table.Td>
            {showsSite ? (
              <Table.Td visibleFrom="lg">
                <bdi>{siteNames.get(queue.site_id) ?? ''}</bdi>
              </Table.Td>
            ) : null}
            <Table.Td>
              <StatusBadge queue={queue} />
              <Text size="xs" c="dimmed" mt={2}>
                {describeQueue(queue, overflowQueueName(queue, byId))}
              </Text>
            </Table.Td>
            <Table.Td visibleFrom="sm" ta="right" className="tabular">
              {waitingCount(queue)} / {queue.capacity}
            </Table.Td>
            <Table.Td visibleFrom="md">
              <CutText text={hoursOf(queue)} />
            </Table.Td>
            <Table.Td visibleFrom="md">
              <CutText text={fallbackOf(queue)} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** One line, with the full text as title. */
function CutText({ text }: { readonly text: string }): ReactElement {
  return (
    <Text size="sm" lineClamp={1} className="user-text" title={text}>
      {text}
    </Text>
  );
}
