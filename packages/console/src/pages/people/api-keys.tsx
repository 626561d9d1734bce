import { Alert, Button, Code, Group, Loader, Stack, Table, Text, Title } from '@mantine/core';
import type { NewApiKey, Operator } from '@usher/client/api-types';
import { useState, type ReactElement } from 'react';
import { At } from '../../components/at.tsx';
import { AskFirst } from '../../components/ask-first.tsx';
import { Copyable } from '../../components/copyable.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { useChange, useRead } from '../../data/use-api.ts';

const refresh = ['GET /operators/{operator_id}/api_keys'] as const;

/** For programs: whoever has one is this operator. */
export function ApiKeys({ person }: { readonly person: Operator }): ReactElement {
  const path = { operator_id: person.id };
  const [made, setMade] = useState<NewApiKey | null>(null);
  const read = useRead('GET /operators/{operator_id}/api_keys', { path });
  const create = useChange('POST /operators/{operator_id}/api_keys', { refresh, onDone: ({ data }) => setMade(data) });
  const remove = useChange('DELETE /operators/{operator_id}/api_keys/{key_id}', { refresh });
  return (
    <Stack gap="sm" component="section" aria-labelledby="keys">
      <Group justify="space-between">
        <Title order={2} size="h4" id="keys">
          API keys
        </Title>
        <Button variant="default" loading={create.isPending} onClick={() => create.mutate({ path, body: {} })}>
          Create key
        </Button>
      </Group>
      <Text size="sm" c="dimmed">
        For programs. Whoever has a key may do all that this operator may.
      </Text>
      {made === null ? null : (
        <Alert
          color="blue"
          title="Keep this key now"
          withCloseButton
          closeButtonLabel="Close"
          onClose={() => setMade(null)}
        >
          <Stack gap="xs">
            <Copyable label="Key id" value={made.id} />
            <Copyable label="Key secret" description="It is shown this once." value={made.secret} />
          </Stack>
        </Alert>
      )}
      <ProblemNote error={read.error ?? create.error} />
      {read.data === undefined ? (
        read.isError ? null : (
          <Loader size="sm" aria-label="Loading" />
        )
      ) : read.data.data.api_keys.length === 0 ? (
        <Text size="sm">There is none.</Text>
      ) : (
        <Table layout="auto">
          <Table.Tbody>
            {read.data.data.api_keys.map(({ id, created_at }) => (
              <Table.Tr key={id}>
                <Table.Td>
                  <Code>{id}</Code>
                  <Text size="xs" c="dimmed">
                    Created <At at={created_at} />
                  </Text>
                </Table.Td>
                <Table.Td ta="right">
                  <AskFirst
                    label="Delete"
                    name={`Delete key ${id}`}
                    size="xs"
                    question="Delete this key?"
                    keep="Keep it"
                    busy={remove.isPending}
                    error={remove.error}
                    onClose={() => remove.reset()}
                    onYes={(done) =>
                      remove.mutate(
                        { path: { ...path, key_id: id } },
                        {
                          onSuccess: () => {
                            done();
                            setMade((shown) => (shown?.id === id ? null : shown));
                          },
                        },
                      )
                    }
                  >
                    <Code>{id}</Code>
                    <Text size="sm">What is signed in with it is out at once.</Text>
                  </AskFirst>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  );
}
