import { Badge, Button, Group, Loader, Stack, Table, Title, VisuallyHidden } from '@mantine/core';
import type { ReactElement } from 'react';
import { ProblemNote } from '../../components/problem.tsx';
import { useChange, useRead } from '../../data/use-api.ts';
import { inShort } from './in-short.ts';

const readAgainMs = 10_000;

/** Everywhere the operator is signed in. One that is ended is out at once. */
export function Sessions(): ReactElement {
  const read = useRead('GET /operator_authentication/sessions', {}, { refetchInterval: readAgainMs });
  const end = useChange('DELETE /operator_authentication/sessions/{session_id}', {
    refresh: ['GET /operator_authentication/sessions'],
  });
  return (
    <Stack gap="sm" component="section" aria-labelledby="sessions">
      <Title order={2} size="h4" id="sessions">
        Signed in
      </Title>
      <ProblemNote error={read.error ?? end.error} />
      {read.data === undefined ? (
        <Loader size="sm" aria-label="Loading" />
      ) : (
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Browser</Table.Th>
              <Table.Th>Last used</Table.Th>
              <Table.Th>
                <VisuallyHidden>Action</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {read.data.data.sessions.map(({ id, user_agent, last_used_at, current }) => (
              <Table.Tr key={id}>
                <Table.Td>
                  <Group gap="xs">
                    <span title={user_agent}>{inShort(user_agent)}</span>
                    {current ? <Badge variant="light">this one</Badge> : null}
                  </Group>
                </Table.Td>
                <Table.Td className="tabular">{new Date(last_used_at).toLocaleString()}</Table.Td>
                <Table.Td ta="right">
                  {current ? null : (
                    <Button
                      size="xs"
                      variant="default"
                      onClick={() => end.mutate({ path: { session_id: id } })}
                      aria-label={`End the session of ${inShort(user_agent)}`}
                    >
                      End
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
