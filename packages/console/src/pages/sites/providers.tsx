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
import { AskFirst } from '../../components/ask-first.tsx';
import { faultsOf, isAtFields } from '../../components/faults.ts';
import { ProblemNote } from '../../components/problem.tsx';
import { useChange, useRead } from '../../data/use-api.ts';

const refresh = ['GET /sites/{site_id}/visitor_authentication_providers'] as const;

/** Identity providers by which visitors of the site say who they are. */
export function Providers({ siteId }: { readonly siteId: string }): ReactElement {
  const path = { site_id: siteId };
  const read = useRead('GET /sites/{site_id}/visitor_authentication_providers', { path });
  const remove = useChange('DELETE /sites/{site_id}/visitor_authentication_providers/{provider_id}', { refresh });
  const providers = read.data?.data.visitor_authentication_providers;
  return (
    <Stack gap="md" maw={760}>
      <Text size="sm">
        Visitors can say who they are by an identity provider that speaks OpenID Connect. A provider is never changed:
        add another, and delete the old one.
      </Text>
      <ProblemNote error={read.error} />
      {providers === undefined ? (
        read.isError ? null : (
          <Loader size="sm" aria-label="Loading" />
        )
      ) : providers.length === 0 ? (
        <Text size="sm" c="dimmed">
          There is none yet: visitors stay unnamed, or are who your pages say.
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
                    Client {client_id}, {has_client_secret ? 'with a secret' : 'without a secret'}
                    {redirect_uris.length === 0 ? '' : `, back to ${redirect_uris.join(', ')}`}
                  </Text>
                </Table.Td>
                <Table.Td ta="right">
                  <AskFirst
                    label="Delete"
                    name={`Delete the provider ${name}`}
                    size="xs"
                    question="Delete this provider?"
                    keep="Keep it"
                    busy={remove.isPending}
                    error={remove.error}
                    onClose={() => remove.reset()}
                    onYes={(done) => remove.mutate({ path: { ...path, provider_id: id } }, { onSuccess: done })}
                  >
                    <Text className="user-text">{name}</Text>
                    <Text size="sm">Whoever is signing in by it right now will fail.</Text>
                  </AskFirst>
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
      <Fieldset legend="Add a provider">
        <Stack gap="sm">
          <TextInput label="Name" required maxLength={maxNameLength} {...text('name')} />
          <TextInput
            label="Issuer"
            description="As the provider itself spells it."
            placeholder="https://login.example.com"
            required
            maxLength={maxUrlLength}
            {...text('issuer')}
          />
          <TextInput label="Client id" required maxLength={maxNameLength} autoComplete="off" {...text('client_id')} />
          <PasswordInput
            label="Client secret"
            description="If it has given one. It is never shown again."
            maxLength={maxClientSecretLength}
            autoComplete="new-password"
            {...text('client_secret')}
          />
          <TagsInput
            label="Addresses to come back to"
            description="Enter adds one."
            value={draft.redirect_uris}
            onChange={(redirect_uris) => setDraft({ ...draft, redirect_uris })}
            error={faults('/redirect_uris')}
            maxTags={maxRedirectUris}
          />
          {isAtFields(create.error) ? null : <ProblemNote error={create.error} />}
          <Group>
            <Button type="submit" loading={create.isPending}>
              Add provider
            </Button>
          </Group>
        </Stack>
      </Fieldset>
    </form>
  );
}
