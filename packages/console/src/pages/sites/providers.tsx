import {
  Button,
  Fieldset,
  Group,
  Loader,
  PasswordInput,
  Stack,
  Table,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { maxClientSecretLength, maxNameLength, maxRedirectUris, maxUrlLength } from '@usher/contract/limits';
import { useState, type ReactElement } from 'react';
import { ConfirmButton } from '../../components/editing/confirm-button.tsx';
import { faultsOf, hasOnlyFieldErrors } from '../../components/faults.ts';
import { ProblemNote } from '../../components/problem.tsx';
import { useChange, useRead } from '../../data/use-api.ts';
import { texts } from './texts.ts';

const refresh = ['GET /sites/{site_id}/visitor_authentication_providers'] as const;

/** Identity providers that visitors of the site can sign in with. */
export function Providers({ siteId }: { readonly siteId: string }): ReactElement {
  const path = { site_id: siteId };
  const read = useRead('GET /sites/{site_id}/visitor_authentication_providers', { path });
  const remove = useChange('DELETE /sites/{site_id}/visitor_authentication_providers/{provider_id}', { refresh });
  const providers = read.data?.data.visitor_authentication_providers;
  return (
    <Stack gap="md" maw={760}>
      <Text size="sm">{texts.providersHelp}</Text>
      <ProblemNote error={read.error} />
      {providers === undefined ? (
        read.isError ? null : (
          <Loader size="sm" aria-label={texts.loading} />
        )
      ) : providers.length === 0 ? (
        <Text size="sm" c="dimmed">
          {texts.noProvidersYet}
        </Text>
      ) : (
        <Table>
          <Table.Tbody>
            {providers.map(({ id, name, issuer, client_id, has_client_secret, redirect_uris }) => (
              <Table.Tr key={id}>
                <Table.Td>
                  <Text fw={600} className="user-text">
                    {name}
                  </Text>
                  <Text size="sm" className="user-text">
                    {issuer}
                  </Text>
                  <Text size="xs" c="dimmed" className="user-text">
                    {has_client_secret ? texts.clientWithSecret(client_id) : texts.clientWithoutSecret(client_id)}
                    {redirect_uris.length === 0 ? '' : ` · ${texts.redirectsTo(redirect_uris.join(', '))}`}
                  </Text>
                </Table.Td>
                <Table.Td ta="right">
                  <ConfirmButton
                    label={texts.delete}
                    name={texts.deleteProvider(name)}
                    size="xs"
                    question={texts.confirmDeleteProvider}
                    busy={remove.isPending}
                    error={remove.error}
                    onClose={() => remove.reset()}
                    onConfirm={(done) => remove.mutate({ path: { ...path, provider_id: id } }, { onSuccess: done })}
                  >
                    <Text className="user-text">{name}</Text>
                    <Text size="sm">{texts.deleteProviderHelp}</Text>
                  </ConfirmButton>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <NewProvider siteId={siteId} />
    </Stack>
  );
}

const empty = { name: '', issuer: '', client_id: '', client_secret: '', redirect_uris: [] as string[] };

function NewProvider({ siteId }: { readonly siteId: string }): ReactElement {
  const [draft, setDraft] = useState(empty);
  const create = useChange('POST /sites/{site_id}/visitor_authentication_providers', {
    refresh,
    onDone: () => setDraft(empty),
  });
  const faults = faultsOf(create.error);
  const text = (field: 'name' | 'issuer' | 'client_id' | 'client_secret') => ({
    value: draft[field],
    onChange: (event: { readonly currentTarget: { readonly value: string } }): void =>
      setDraft({ ...draft, [field]: event.currentTarget.value }),
    error: faults(`/${field}`),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const { client_secret, ...fields } = draft;
        create.mutate({
          path: { site_id: siteId },
          body: { ...fields, type: 'openid_connect', ...(client_secret === '' ? {} : { client_secret }) },
        });
      }}
    >
      <Fieldset legend={texts.newProvider}>
        <Stack gap="sm">
          <TextInput label={texts.name} required maxLength={maxNameLength} {...text('name')} />
          <TextInput
            label={texts.issuer}
            description={texts.exactIssuerUrl}
            placeholder="https://login.example.com"
            required
            maxLength={maxUrlLength}
            {...text('issuer')}
          />
          <TextInput
            label={texts.clientId}
            required
            maxLength={maxNameLength}
            autoComplete="off"
            {...text('client_id')}
          />
          <PasswordInput
            label={texts.clientSecret}
            description={texts.clientSecretHelp}
            maxLength={maxClientSecretLength}
            autoComplete="new-password"
            {...text('client_secret')}
          />
          <TagsInput
            label={texts.redirectUris}
            description={texts.pressEnterToAdd}
            value={draft.redirect_uris}
            onChange={(redirect_uris) => setDraft({ ...draft, redirect_uris })}
            error={faults('/redirect_uris')}
            maxTags={maxRedirectUris}
          />
          {hasOnlyFieldErrors(create.error) ? null : <ProblemNote error={create.error} />}
          <Group>
            <Button type="submit" loading={create.isPending}>
              {texts.addProvider}
            </Button>
          </Group>
        </Stack>
      </Fieldset>
    </form>
  );
}
