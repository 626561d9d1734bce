import { Anchor, Button, Center, Loader, Paper, Stack, Table, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { PageTitle } from '../../components/page-title.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { NoneOnSite } from '../../components/states.tsx';
import { useMe } from '../../data/use-me.ts';
import { usePolicies, useQueues } from '../queues/use-queues.ts';
import { datesOf } from './exceptions.ts';
import { texts } from './texts.ts';
import { describeWeek } from './week.ts';

export function HoursList(): ReactElement {
  const me = useMe();
  const policies = usePolicies();
  const queues = useQueues().data?.data.queues ?? [];
  const siteNames = new Map(me.sites.map(({ id, name }) => [id, name]));
  const all = policies.data?.data.scheduling_policies ?? [];
  const rows = all.filter(({ site_id }) => me.siteIds.includes(site_id));
  const queueCount = (id: string): number => queues.filter((queue) => queue.scheduling_policy_id === id).length;
  return (
    <>
      <PageTitle title={texts.hours}>
        {me.can('super_manager', me.siteId ?? undefined) ? (
          <Button component={Link} href="/hours/new">
            {texts.newHours}
          </Button>
        ) : null}
      </PageTitle>
      <ProblemNote error={policies.error} title={texts.couldNotLoadList} />
      {policies.isPending ? (
        <Center mih="30vh">
          <Loader aria-label={texts.loading} />
        </Center>
      ) : rows.length === 0 && all.length > 0 ? (
        <NoneOnSite what="hours" />
      ) : rows.length === 0 ? (
        <Paper p="xl" withBorder>
          <Stack align="center" gap="xs">
            <Text fw={600}>{texts.noHoursYet}</Text>
            <Text c="dimmed" size="sm" ta="center">
              {texts.noHoursYetHelp}
            </Text>
          </Stack>
        </Paper>
      ) : (
        <Table verticalSpacing="xs" highlightOnHover layout="fixed">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.hours}</Table.Th>
              {me.siteIds.length > 1 ? <Table.Th visibleFrom="lg">{texts.site}</Table.Th> : null}
              <Table.Th visibleFrom="sm" w={160}>
                {texts.timeZone}
              </Table.Th>
              <Table.Th>{texts.week}</Table.Th>
              <Table.Th visibleFrom="md" ta="right" w={110}>
                {texts.exceptions}
              </Table.Th>
              <Table.Th visibleFrom="sm" ta="right" w={90}>
                {texts.queues}
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((policy) => (
              <Table.Tr key={policy.id}>
                <Table.Td>
                  <Anchor
                    component={Link}
                    href={`/hours/${policy.id}`}
                    fw={600}
                    lineClamp={2}
                    className="user-text"
                    title={policy.name}
                  >
                    {policy.name}
                  </Anchor>
                </Table.Td>
                {me.siteIds.length > 1 ? (
                  <Table.Td visibleFrom="lg">
                    <bdi>{siteNames.get(policy.site_id) ?? ''}</bdi>
                  </Table.Td>
                ) : null}
                <Table.Td visibleFrom="sm">{policy.timezone}</Table.Td>
                <Table.Td>
                  <Text size="sm" lineClamp={2} title={describeWeek(policy.business_hours)}>
                    {describeWeek(policy.business_hours)}
                  </Text>
                </Table.Td>
                <Table.Td visibleFrom="md" ta="right" className="tabular">
                  {datesOf(policy.exceptions).length}
                </Table.Td>
                <Table.Td visibleFrom="sm" ta="right" className="tabular">
                  {queueCount(policy.id)}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </>
  );
}
