import { Button, Group, Loader, Stack, Table, Text, TextInput } from '@mantine/core';
import { maxDomainLength } from '@usher/contract/limits';
import { useState, type ReactElement } from 'react';
import { RichText } from '../../components/rich-text.tsx';
import { Timestamp } from '../../components/time/timestamp.tsx';
import { ConfirmButton } from '../../components/editing/confirm-button.tsx';
import { faultsOf, hasOnlyFieldErrors } from '../../components/faults.ts';
import { ProblemNote } from '../../components/problem.tsx';
import { useChange } from '../../data/use-api.ts';
import { useAllPages } from '../../data/use-all-pages.ts';
import { texts } from './texts.ts';

const refresh = ['GET /sip_domains'] as const;

/** Host names of the site for SIP calls. */
export function SipDomains({ siteId }: { readonly siteId: string }): ReactElement {
  const [domain, setDomain] = useState('');
  const read = useAllPages('GET /sip_domains', { query: { site_ids: [siteId] } }, ({ sip_domains }) => sip_domains);
  const create = useChange('POST /sip_domains', { refresh, onDone: () => setDomain('') });
  const remove = useChange('DELETE /sip_domains/{sip_domain_id}', { refresh });
  return (
    <Stack gap="md" maw={760}>
      <Text size="sm">{texts.sipDomainsHelp}</Text>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate({ body: { site_id: siteId, domain: domain.trim() } });
        }}
      >
        <Group align="flex-start" gap="xs">
          <TextInput
            label={texts.sipDomain}
            placeholder="sip.example.com"
            required
            maxLength={maxDomainLength}
            flex={1}
            miw={200}
            maw={400}
            value={domain}
            onChange={(event) => setDomain(event.currentTarget.value)}
            error={faultsOf(create.error)('/domain')}
          />
          <Button type="submit" mt={25} loading={create.isPending}>
            {texts.addDomain}
          </Button>
        </Group>
      </form>
      {hasOnlyFieldErrors(create.error) ? null : <ProblemNote error={create.error} />}
      <ProblemNote error={read.error} />
      {read.data === undefined ? (
        read.isError ? null : (
          <Loader size="sm" aria-label={texts.loading} />
        )
      ) : read.data.length === 0 ? (
        <Text size="sm" c="dimmed">
          {texts.noSipDomainsYet}
        </Text>
      ) : (
        <Table>
          <Table.Tbody>
            {read.data.map(({ id, domain: name, created_at }) => (
              <Table.Tr key={id}>
                <Table.Td>
                  {name}
                  <Text size="xs" c="dimmed">
                    <RichText text={texts.addedAt} values={{ time: <Timestamp at={created_at} /> }} />
                  </Text>
                </Table.Td>
                <Table.Td ta="right">
                  <ConfirmButton
                    label={texts.delete}
                    name={texts.deleteNamed(name)}
                    size="xs"
                    question={texts.confirmDeleteSipDomain}
                    busy={remove.isPending}
                    error={remove.error}
                    onClose={() => remove.reset()}
                    onConfirm={(done) => remove.mutate({ path: { sip_domain_id: id } }, { onSuccess: done })}
                  >
                    <Text>{name}</Text>
                    <Text size="sm">{texts.deleteSipDomainHelp}</Text>
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
