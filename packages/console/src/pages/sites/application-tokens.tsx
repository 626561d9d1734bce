import { Alert, Anchor, Button, Code, Group, Loader, Stack, Table, Text } from '@mantine/core';
import type { NewApplicationToken } from '@usher/client/api-types';
import { useState, type ReactElement } from 'react';
import { At } from '../../components/at.tsx';
import { AskFirst } from '../../components/ask-first.tsx';
import { Copyable } from '../../components/copyable.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { useChange, useRead } from '../../data/use-api.ts';
import { demoOf, snippetOf } from './snippet.ts';

const refresh = ['GET /sites/{site_id}/application_tokens'] as const;
const kinds = { publishable: 'Publishable', secret: 'Secret' } as const;
const meanings = {
  publishable: 'may stand in a web page: the widget uses it',
  secret: 'for your own servers: also renews the tokens of visitors',
} as const;

/** With which visitors get in: by the widget, or by programs of one's own. */
export function ApplicationTokens({ siteId }: { readonly siteId: string }): ReactElement {
  const path = { site_id: siteId };
  const [made, setMade] = useState<NewApplicationToken | null>(null);
  const read = useRead('GET /sites/{site_id}/application_tokens', { path });
  const create = useChange('POST /sites/{site_id}/application_tokens', {
    refresh,
    onDone: ({ data }) => setMade(data),
  });
  const tokens = read.data?.data.application_tokens;
  return (
    <Stack gap="md" maw={760}>
      <Text size="sm">
        Visitors get in by a token of the site. For the widget, create a publishable one, and put the line you are given
        into your pages.
      </Text>
      <Group gap="xs">
        {(['publishable', 'secret'] as const).map((kind) => (
          <Button
            key={kind}
            variant={kind === 'publishable' ? 'filled' : 'default'}
            loading={create.isPending && create.variables.body.kind === kind}
            onClick={() => create.mutate({ path, body: { kind } })}
          >
            {`Create ${kind} token`}
          </Button>
        ))}
      </Group>
      {made === null ? null : <Made key={made.id} siteId={siteId} made={made} onClose={() => setMade(null)} />}
      <ProblemNote error={read.error ?? create.error} />
      {tokens === undefined ? (
        read.isError ? null : (
          <Loader size="sm" aria-label="Loading" />
        )
      ) : tokens.length === 0 ? (
        <Text size="sm" c="dimmed">
          The site has no token yet: no visitor can get in.
        </Text>
      ) : (
        <Table>
          <Table.Tbody>
            {tokens.map(({ id, kind, created_at }) => (
              <Table.Tr key={id}>
                <Table.Td>
                  <Text size="sm">
                    <b>{kinds[kind]}</b>: {meanings[kind]}
                  </Text>
                  <Text size="xs" c="dimmed">
                    <Code>{id}</Code> created <At at={created_at} />
                  </Text>
                </Table.Td>
                <Table.Td ta="right">
                  <DeleteToken
                    siteId={siteId}
                    id={id}
                    onDone={() => setMade((shown) => (shown?.id === id ? null : shown))}
                  />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  );
}

interface MadeProps {
  readonly siteId: string;
  readonly made: NewApplicationToken;
  readonly onClose: () => void;
}

function Made({ siteId, made, onClose }: MadeProps): ReactElement {
  return (
    <Alert color="blue" title="Keep this token now" withCloseButton closeButtonLabel="Close" onClose={onClose}>
      <Stack gap="xs">
        <Copyable label={`${kinds[made.kind]} token`} description="It is shown this once." value={made.token} />
        {made.kind === 'publishable' ? (
          <>
            <Copyable
              long
              label="The widget, for your pages"
              description="Their origin must be among the allowed ones of the site."
              value={snippetOf(location.origin, siteId, made.token)}
            />
            <Anchor href={demoOf(siteId, made.token)} target="_blank" rel="noopener" size="sm">
              Try it on the demo page
            </Anchor>
          </>
        ) : null}
      </Stack>
    </Alert>
  );
}

interface DeleteProps {
  readonly siteId: string;
  readonly id: string;
  readonly onDone: () => void;
}

function DeleteToken({ siteId, id, onDone }: DeleteProps): ReactElement {
  const remove = useChange('DELETE /sites/{site_id}/application_tokens/{token_id}', { refresh, onDone });
  return (
    <AskFirst
      label="Delete"
      name={`Delete token ${id}`}
      size="xs"
      question="Delete this token?"
      keep="Keep it"
      busy={remove.isPending}
      error={remove.error}
      onClose={() => remove.reset()}
      onYes={(done) => remove.mutate({ path: { site_id: siteId, token_id: id } }, { onSuccess: done })}
    >
      <Code>{id}</Code>
      <Text size="sm">It stops working at once. A widget that uses it shows nothing any more.</Text>
    </AskFirst>
  );
}
