import { Alert, Anchor, Button, Card, Code, Group, Loader, Stack, Text } from '@mantine/core';
import type { NewApplicationToken } from '@usher/sdk/api-types';
import { useState, type ReactElement } from 'react';
import { RichText } from '../../components/rich-text.tsx';
import { Timestamp } from '../../components/time/timestamp.tsx';
import { ConfirmButton } from '../../components/editing/confirm-button.tsx';
import { Copyable } from '../../components/copyable.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { useChange, useRead } from '../../data/use-api.ts';
import { pathPrefix } from '../../path-prefix.ts';
import { demoUrl, embedCode } from './snippet.ts';
import { texts } from './texts.ts';

const refresh = ['GET /sites/{site_id}/application_tokens'] as const;
const kinds = { publishable: texts.publishable, secret: texts.secret } as const;
const createTexts = { publishable: texts.createPublishableToken, secret: texts.createSecretToken } as const;
const meanings = {
  publishable: texts.publishableMeaning,
  secret: texts.secretMeaning,
} as const;

/** Application tokens. Publishable ones can be shown any time, with the embed code; a secret one only when it is created. */
export function ApplicationTokens({ siteId }: { readonly siteId: string }): ReactElement {
  const path = { site_id: siteId };
  const [created, setCreated] = useState<NewApplicationToken | null>(null);
  const read = useRead('GET /sites/{site_id}/application_tokens', { path });
  const create = useChange('POST /sites/{site_id}/application_tokens', {
    refresh,
    onDone: ({ data }) => setCreated(data.kind === 'secret' ? data : null),
  });
  const tokens = read.data?.data.application_tokens;
  return (
    <Stack gap="md" maw={760}>
      <Text size="sm">{texts.tokensHelp}</Text>
      <Group gap="xs">
        {(['publishable', 'secret'] as const).map((kind) => (
          <Button
            key={kind}
            variant={kind === 'publishable' ? 'filled' : 'default'}
            loading={create.isPending && create.variables.body.kind === kind}
            onClick={() => create.mutate({ path, body: { kind } })}
          >
            {createTexts[kind]}
          </Button>
        ))}
      </Group>
      {created === null ? null : <NewSecret key={created.id} created={created} onClose={() => setCreated(null)} />}
      <ProblemNote error={read.error ?? create.error} />
      {tokens === undefined ? (
        read.isError ? null : (
          <Loader size="sm" aria-label={texts.loading} />
        )
      ) : tokens.length === 0 ? (
        <Text size="sm" c="dimmed">
          {texts.noTokensYet}
        </Text>
      ) : (
        tokens.map((token) => (
          <Card
            key={token.id}
            withBorder
            component="section"
            aria-label={
              token.kind === 'secret' ? texts.secretTokenNamed(token.id) : texts.publishableTokenNamed(token.id)
            }
          >
            <Stack gap="xs">
              <Group justify="space-between" align="flex-start">
                <div>
                  <Text size="sm">
                    <b>{kinds[token.kind]}</b>: {meanings[token.kind]}
                  </Text>
                  <Text size="xs" c="dimmed">
                    <RichText
                      text={texts.idCreatedAt}
                      values={{ id: <Code>{token.id}</Code>, time: <Timestamp at={token.created_at} /> }}
                    />
                  </Text>
                </div>
                <DeleteToken
                  siteId={siteId}
                  id={token.id}
                  onDone={() => setCreated((shown) => (shown?.id === token.id ? null : shown))}
                />
              </Group>
              {token.kind === 'publishable' ? <Embedding siteId={siteId} token={token.token} /> : null}
            </Stack>
          </Card>
        ))
      )}
    </Stack>
  );
}

function Embedding({ siteId, token }: { readonly siteId: string; readonly token: string | null }): ReactElement {
  if (token === null)
    return (
      <Text size="sm" c="dimmed">
        {texts.tokenNotShown}
      </Text>
    );
  return (
    <>
      <Copyable label={texts.publishableToken} value={token} />
      <Copyable long label={texts.embedCode} value={embedCode(`${location.origin}${pathPrefix}`, siteId, token)} />
      <Anchor href={demoUrl(siteId, token)} target="_blank" rel="noopener" size="sm">
        {texts.tryItOnDemoPage}
      </Anchor>
    </>
  );
}

function NewSecret({ created, onClose }: { readonly created: NewApplicationToken; readonly onClose: () => void }) {
  return (
    <Alert color="blue" title={texts.saveTokenNow} withCloseButton closeButtonLabel={texts.close} onClose={onClose}>
      <Copyable label={texts.secretToken} description={texts.shownOnlyOnce} value={created.token} />
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
    <ConfirmButton
      label={texts.delete}
      name={texts.deleteToken(id)}
      size="xs"
      question={texts.confirmDeleteToken}
      busy={remove.isPending}
      error={remove.error}
      onClose={() => remove.reset()}
      onConfirm={(done) => remove.mutate({ path: { site_id: siteId, token_id: id } }, { onSuccess: done })}
    >
      <Code>{id}</Code>
      <Text size="sm">{texts.deleteTokenHelp}</Text>
    </ConfirmButton>
  );
}
