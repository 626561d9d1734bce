import { Badge, Button, Group, Loader, Stack, Table, Title, VisuallyHidden } from '@mantine/core';
import type { ReactElement } from 'react';
import { ProblemNote } from '../../components/problem.tsx';
import { useChange, useRead } from '../../data/use-api.ts';
import { describeDevice } from './describe-device.ts';
import { texts } from './texts.ts';

const pollMs = 10_000;

/** The sessions of the operator. A session that is ended is signed out immediately. */
export function Sessions(): ReactElement {
  const read = useRead('GET /operator_authentication/sessions', {}, { refetchInterval: pollMs });
  const end = useChange('DELETE /operator_authentication/sessions/{session_id}', {
    refresh: ['GET /operator_authentication/sessions'],
  });
  return (
    <Stack gap="sm" component="section" aria-labelledby="sessions">
      <Title order={2} size="h4" id="sessions">
        {texts.sessions}
      </Title>
      <ProblemNote error={read.error ?? end.error} />
      {read.data === undefined ? (
        <Loader size="sm" aria-label={texts.loading} />
      ) : (
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.browser}</Table.Th>
              <Table.Th>{texts.lastUsed}</Table.Th>
              <Table.Th>
                <VisuallyHidden>{texts.action}</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {read.data.data.sessions.map(({ id, user_agent, last_used_at, current }) => (
              <Table.Tr key={id}>
                <Table.Td>
                  <Group gap="xs">
                    <span title={user_agent}>{describeDevice(user_agent)}</span>
                    {current ? <Badge variant="light">{texts.thisDevice}</Badge> : null}
                  </Group>
                </Table.Td>
                <Table.Td className="tabular">{new Date(last_used_at).toLocaleString()}</Table.Td>
                <Table.Td ta="right">
                  {current ? null : (
                    <Button
                      size="xs"
                      variant="default"
                      onClick={() => end.mutate({ path: { session_id: id } })}
                      aria-label={texts.signOutDevice(describeDevice(user_agent))}
                    >
                      {texts.signOut}
                    </Button>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  );
}
