import { Alert, Button, Group, Loader, Modal, Select, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { AccessToken, NewAccessToken, Operator } from '@usher/sdk/api-types';
import { maxNameLength } from '@usher/contract/limits';
import { useState, type ReactElement } from 'react';
import { RichText } from '../../components/rich-text.tsx';
import { Timestamp } from '../../components/time/timestamp.tsx';
import { ConfirmButton } from '../../components/editing/confirm-button.tsx';
import { Copyable } from '../../components/copyable.tsx';
import { faultsOf, hasOnlyFieldErrors } from '../../components/faults.ts';
import { ProblemNote } from '../../components/problem.tsx';
import { useChange, useRead } from '../../data/use-api.ts';
import { texts } from './texts.ts';

const refresh = ['GET /operators/{operator_id}/access_tokens'] as const;
const dayMs = 86_400_000;
const lifetimes = [
  { value: 'never', label: texts.never },
  { value: '30', label: texts.in30Days },
  { value: '90', label: texts.in90Days },
  { value: '365', label: texts.in1Year },
];

/** Long-lived tokens, for programs that cannot obtain tokens with an API key. */
export function AccessTokens({ person }: { readonly person: Operator }): ReactElement {
  const path = { operator_id: person.id };
  const [created, setCreated] = useState<NewAccessToken | null>(null);
  const [opened, { open, close }] = useDisclosure();
  const read = useRead('GET /operators/{operator_id}/access_tokens', { path });
  const tokens = read.data?.data.access_tokens;
  return (
    <Stack gap="sm" component="section" aria-labelledby="access-tokens">
      <Group justify="space-between">
        <Title order={2} size="h4" id="access-tokens">
          {texts.accessTokens}
        </Title>
        <Button variant="default" onClick={open}>
          {texts.createToken}
        </Button>
      </Group>
      <Text size="sm" c="dimmed">
        {texts.accessTokensHelp}
      </Text>
      <Modal
        opened={opened}
        onClose={close}
        title={texts.newAccessToken}
        closeButtonProps={{ 'aria-label': texts.close }}
      >
        {opened ? (
          <NewTokenForm
            operatorId={person.id}
            onDone={(token) => {
              setCreated(token);
              close();
            }}
          />
        ) : null}
      </Modal>
      {created === null ? null : (
        <Alert
          color="blue"
          title={texts.saveTokenNow}
          withCloseButton
          closeButtonLabel={texts.close}
          onClose={() => setCreated(null)}
        >
          <Copyable label={texts.tokenNamed(created.name)} description={texts.shownOnlyOnce} value={created.token} />
        </Alert>
      )}
      <ProblemNote error={read.error} />
      {tokens === undefined ? (
        read.isError ? null : (
          <Loader size="sm" aria-label={texts.loading} />
        )
      ) : tokens.length === 0 ? (
        <Text size="sm">{texts.noAccessTokens}</Text>
      ) : (
        <Table layout="auto">
          <Table.Tbody>
            {tokens.map((token) => (
              <TokenRow
                key={token.id}
                operatorId={person.id}
                token={token}
                onDeleted={() => setCreated((shown) => (shown?.id === token.id ? null : shown))}
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
          <RichText text={texts.createdAt} values={{ time: <Timestamp at={createdAt} /> }} />
          {' · '}
          {expiresAt === null ? (
            texts.doesNotExpire
          ) : (
            <RichText text={texts.expiresAt} values={{ time: <Timestamp at={expiresAt} /> }} />
          )}
          {' · '}
          {lastUsedAt === null ? (
            texts.neverUsed
          ) : (
            <RichText text={texts.lastUsedAt} values={{ time: <Timestamp at={lastUsedAt} /> }} />
          )}
        </Text>
      </Table.Td>
      <Table.Td ta="right">
        <ConfirmButton
          label={texts.delete}
          name={texts.deleteToken(name)}
          size="xs"
          question={texts.confirmDeleteToken}
          busy={remove.isPending}
          error={remove.error}
          onClose={() => remove.reset()}
          onConfirm={(done) =>
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
          <Text size="sm">{texts.programsLoseAccess(name)}</Text>
        </ConfirmButton>
      </Table.Td>
    </Table.Tr>
  );
}

interface FormProps {
  readonly operatorId: string;
  readonly onDone: (created: NewAccessToken) => void;
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
      aria-label={texts.newAccessToken}
      onSubmit={(event) => {
        event.preventDefault();
        const expires_at = days === 'never' ? null : new Date(Date.now() + Number(days) * dayMs).toISOString();
        create.mutate({ path: { operator_id: operatorId }, body: { name, expires_at } });
      }}
    >
      <Stack>
        <TextInput
          label={texts.name}
          description={texts.tokenNameExample}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={faults('/name')}
          maxLength={maxNameLength}
          required
          data-autofocus
        />
        <Select
          label={texts.expires}
          data={lifetimes}
          value={days}
          onChange={(value) => setDays(value ?? 'never')}
          allowDeselect={false}
          error={faults('/expires_at')}
        />
        {hasOnlyFieldErrors(create.error) ? null : <ProblemNote error={create.error} />}
        <Group justify="flex-end">
          <Button type="submit" disabled={name.trim() === ''} loading={create.isPending}>
            {texts.create}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
