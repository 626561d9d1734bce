import { Alert, Button, Code, Group, Loader, Stack, Table, Text, Title } from '@mantine/core';
import type { NewApiKey, Operator } from '@usher/sdk/api-types';
import { useState, type ReactElement } from 'react';
import { RichText } from '../../components/rich-text.tsx';
import { Timestamp } from '../../components/time/timestamp.tsx';
import { ConfirmButton } from '../../components/editing/confirm-button.tsx';
import { Copyable } from '../../components/copyable.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { useChange, useRead } from '../../data/use-api.ts';
import { texts } from './texts.ts';

const refresh = ['GET /operators/{operator_id}/api_keys'] as const;

/** API keys for programs: a key has the permissions of the operator. */
export function ApiKeys({ person }: { readonly person: Operator }): ReactElement {
  const path = { operator_id: person.id };
  const [created, setCreated] = useState<NewApiKey | null>(null);
  const read = useRead('GET /operators/{operator_id}/api_keys', { path });
  const create = useChange('POST /operators/{operator_id}/api_keys', {
    refresh,
    onDone: ({ data }) => setCreated(data),
  });
  const remove = useChange('DELETE /operators/{operator_id}/api_keys/{key_id}', { refresh });
  return (
    <Stack gap="sm" component="section" aria-labelledby="keys">
      <Group justify="space-between">
        <Title order={2} size="h4" id="keys">
          {texts.apiKeys}
        </Title>
        <Button variant="default" loading={create.isPending} onClick={() => create.mutate({ path, body: {} })}>
          {texts.createKey}
        </Button>
      </Group>
      <Text size="sm" c="dimmed">
        {texts.apiKeysHelp}
      </Text>
      {created === null ? null : (
        <Alert
          color="blue"
          title={texts.saveKeyNow}
          withCloseButton
          closeButtonLabel={texts.close}
          onClose={() => setCreated(null)}
        >
          <Stack gap="xs">
            <Copyable label={texts.keyId} value={created.id} />
            <Copyable label={texts.keySecret} description={texts.shownOnlyOnce} value={created.secret} />
          </Stack>
        </Alert>
      )}
      <ProblemNote error={read.error ?? create.error} />
      {read.data === undefined ? (
        read.isError ? null : (
          <Loader size="sm" aria-label={texts.loading} />
        )
      ) : read.data.data.api_keys.length === 0 ? (
        <Text size="sm">{texts.noKeys}</Text>
      ) : (
        <Table layout="auto">
          <Table.Tbody>
            {read.data.data.api_keys.map(({ id, created_at }) => (
              <Table.Tr key={id}>
                <Table.Td>
                  <Code>{id}</Code>
                  <Text size="xs" c="dimmed">
                    <RichText text={texts.createdAt} values={{ time: <Timestamp at={created_at} /> }} />
                  </Text>
                </Table.Td>
                <Table.Td ta="right">
                  <ConfirmButton
                    label={texts.delete}
                    name={texts.deleteKey(id)}
                    size="xs"
                    question={texts.confirmDeleteKey}
                    busy={remove.isPending}
                    error={remove.error}
                    onClose={() => remove.reset()}
                    onConfirm={(done) =>
                      remove.mutate(
                        { path: { ...path, key_id: id } },
                        {
                          onSuccess: () => {
                            done();
                            setCreated((shown) => (shown?.id === id ? null : shown));
                          },
                        },
                      )
                    }
                  >
                    <Code>{id}</Code>
                    <Text size="sm">{texts.deleteKeyHelp}</Text>
                  </ConfirmButton>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  );
}
