import { Alert, Button, Group, Loader, Modal, Select, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { AccessToken, NewAccessToken, Operator } from '@usher/client/api-types';
import { maxNameLength } from '@usher/contract/limits';
import { useState, type ReactElement } from 'react';
import { At } from '../../components/at.tsx';
import { AskFirst } from '../../components/ask-first.tsx';
import { Copyable } from '../../components/copyable.tsx';
import { faultsOf, isAtFields } from '../../components/faults.ts';
import { ProblemNote } from '../../components/problem.tsx';
import { useChange, useRead } from '../../data/use-api.ts';

const refresh = ['GET /operators/{operator_id}/access_tokens'] as const;
const dayMs = 86_400_000;
const lifetimes = [
  { value: 'never', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
];

/** Long-lived tokens, for programs that cannot obtain a new one with an API key. */
export function AccessTokens({ person }: { readonly person: Operator }): ReactElement {
  const path = { operator_id: person.id };
  const [made, setMade] = useState<NewAccessToken | null>(null);
  const [opened, { open, close }] = useDisclosure();
  const read = useRead('GET /operators/{operator_id}/access_tokens', { path });
  const tokens = read.data?.data.access_tokens;
  return (
    <Stack gap="sm" component="section" aria-labelledby="access-tokens">
      <Group justify="space-between">
        <Title order={2} size="h4" id="access-tokens">
          Access tokens
        </Title>
        <Button variant="default" onClick={open}>
          Create token
        </Button>
      </Group>
      <Text size="sm" c="dimmed">
        For programs that cannot obtain tokens with an API key. A token has this operator&apos;s permissions until it
        expires or is deleted.
      </Text>
      <Modal opened={opened} onClose={close} title="New access token" closeButtonProps={{ 'aria-label': 'Close' }}>
        {opened ? (
          <NewTokenForm
            operatorId={person.id}
            onDone={(token) => {
              setMade(token);
              close();
            }}
          />
        ) : null}
      </Modal>
      {made === null ? null : (
        <Alert
          color="blue"
          title="Save this token now"
          withCloseButton
          closeButtonLabel="Close"
          onClose={() => setMade(null)}
        >
          <Copyable label={`Token “${made.name}”`} description="Shown only once" value={made.token} />
        </Alert>
      )}
      <ProblemNote error={read.error} />
      {tokens === undefined ? (
        read.isError ? null : (
          <Loader size="sm" aria-label="Loading" />
        )
      ) : tokens.length === 0 ? (
        <Text size="sm">No access tokens</Text>
      ) : (
        <Table layout="auto">
          <Table.Tbody>
            {tokens.map((token) => (
              <TokenRow
                key={token.id}
                operatorId={person.id}
                token={token}
                onDeleted={() => setMade((shown) => (shown?.id === token.id ? null : shown))}
              />
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  );
}

interface RowProps {
  readonly operatorId: string;
  readonly token: AccessToken;
  readonly onDeleted: () => void;
}

function TokenRow({ operatorId, token, onDeleted }: RowProps): ReactElement {
  const { id, name, created_at: createdAt, expires_at: expiresAt, last_used_at: lastUsedAt } = token;
  const remove = useChange('DELETE /operators/{operator_id}/access_tokens/{access_token_id}', { refresh });
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Text>
        <Text size="xs" c="dimmed">
          Created <At at={createdAt} />
          {' · '}
          {expiresAt === null ? 'does not expire' : 'expires '}
          {expiresAt === null ? null : <At at={expiresAt} />}
          {' · '}
          {lastUsedAt === null ? 'not used yet' : 'last used '}
          {lastUsedAt === null ? null : <At at={lastUsedAt} />}
        </Text>
      </Table.Td>
      <Table.Td ta="right">
        <AskFirst
          label="Delete"
          name={`Delete token ${name}`}
          size="xs"
          question="Delete this access token?"
          busy={remove.isPending}
          error={remove.error}
          onClose={() => remove.reset()}
          onYes={(done) =>
            remove.mutate(
              { path: { operator_id: operatorId, access_token_id: id } },
              {
                onSuccess: () => {
                  done();
                  onDeleted();
                },
              },
            )
          }
        >
          <Text size="sm">Programs that use “{name}” lose access immediately.</Text>
        </AskFirst>
      </Table.Td>
    </Table.Tr>
  );
}

interface FormProps {
  readonly operatorId: string;
  readonly onDone: (made: NewAccessToken) => void;
}

function NewTokenForm({ operatorId, onDone }: FormProps): ReactElement {
  const [name, setName] = useState('');
  const [days, setDays] = useState('never');
  const create = useChange('POST /operators/{operator_id}/access_tokens', {
    refresh,
    onDone: ({ data }) => onDone(data),
  });
  const faults = faultsOf(create.error);
  return (
    <form
      aria-label="New access token"
      onSubmit={(event) => {
        event.preventDefault();
        const expires_at = days === 'never' ? null : new Date(Date.now() + Number(days) * dayMs).toISOString();
        create.mutate({ path: { operator_id: operatorId }, body: { name, expires_at } });
      }}
    >
      <Stack>
        <TextInput
          label="Name"
          description="What the token is for, such as the program that uses it"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={faults('/name')}
          maxLength={maxNameLength}
          required
          data-autofocus
        />
        <Select
          label="Expires"
          data={lifetimes}
          value={days}
          onChange={(value) => setDays(value ?? 'never')}
          allowDeselect={false}
          error={faults('/expires_at')}
        />
        {isAtFields(create.error) ? null : <ProblemNote error={create.error} />}
        <Group justify="flex-end">
          <Button type="submit" disabled={name.trim() === ''} loading={create.isPending}>
            Create
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
