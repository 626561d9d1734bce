import { Button, Divider, Group, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { Answered } from '@usher/client/api';
import type { Webhook } from '@usher/sdk/api-types';
import { useState, type SubmitEvent, type ReactElement } from 'react';
import { useLocation } from 'wouter';
import { DeleteButton } from '../../../components/editing/delete-button.tsx';
import { ConflictDialog, type FieldViews } from '../../../components/editing/conflict.tsx';
import { faultsOf, hasOnlyFieldErrors } from '../../../components/faults.ts';
import { notifySaved } from '../../../components/editing/notify-saved.ts';
import { ProblemNote } from '../../../components/problem.tsx';
import { useEditing, type Version } from '../../../components/editing/use-editing.ts';
import { useChange } from '../../../data/use-api.ts';
import { useMe } from '../../../data/use-me.ts';
import { useSession } from '../../../session/use-session.ts';
import { channelNamed, channelOf, draftViews } from '../channels/channels.ts';
import { texts } from '../texts.ts';
import { bodyOf, fieldsOf, isTyped, violationsOf, type WebhookFields } from './fields.ts';
import { RotateSecret } from './rotate-secret.tsx';
import { nameOf } from '../labels.ts';
import { WebhookForm } from './webhook-form.tsx';

interface Props {
  readonly webhook: Webhook;
  readonly etag: string | null;
  readonly readAgain: () => Promise<Answered<'GET /webhooks/{webhook_id}'> | undefined>;
}

export function Settings({ webhook, etag, readAgain }: Props): ReactElement {
  const { api } = useSession();
  const client = useQueryClient();
  const [tried, setTried] = useState(false);
  const views = useViews();
  const editing = useEditing<WebhookFields>({
    current: { fields: fieldsOf(webhook), etag },
    save: async (fields, version) =>
      versionOf(
        await api.ask('PUT /webhooks/{webhook_id}', {
          path: { webhook_id: webhook.id },
          body: bodyOf(fields),
          ifMatch: version,
        }),
      ),
    readAgain: async () => {
      const answered = await readAgain();
      if (answered === undefined) throw new Error(texts.couldNotLoadWebhook);
      return versionOf(answered);
    },
    onSaved: () => {
      notifySaved(texts.webhookSaved);
      for (const read of ['GET /webhooks', 'GET /webhooks/{webhook_id}'])
        void client.invalidateQueries({ queryKey: [read] });
    },
  });
  const { draft } = editing;
  const local = violationsOf(draft);
  const faults = faultsOf(
    local.filter(({ attribute }) => tried || isTyped(draft, attribute)),
    editing.error,
  );
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    setTried(true);
    if (local.length === 0) editing.submit();
  };
  return (
    <Stack maw={720} gap="lg">
      <form onSubmit={submit} noValidate aria-label={texts.settings}>
        <Stack gap="md">
          <WebhookForm fields={draft} set={editing.set} faults={faults} />
          {hasOnlyFieldErrors(editing.error) ? null : <ProblemNote error={editing.error} />}
          <Group gap="xs">
            <Button type="submit" loading={editing.saving} disabled={!editing.isChanged}>
              {texts.save}
            </Button>
            <Button variant="default" onClick={editing.discard} disabled={!editing.isChanged}>
              {texts.discardChanges}
            </Button>
          </Group>
        </Stack>
      </form>
      {!channelOf(webhook).isSigned ? null : (
        <>
          <Divider />
          <RotateSecret id={webhook.id} />
        </>
      )}
      <Divider />
      <Delete webhook={webhook} />
      {editing.theirs === null ? null : (
        <ConflictDialog
          key={editing.theirs.etag}
          what="webhook"
          base={editing.base}
          mine={draft}
          theirs={editing.theirs.fields}
          views={views}
          saving={editing.saving}
          error={editing.error}
          onSave={editing.resolve}
          onClose={editing.dismiss}
        />
      )}
    </Stack>
  );
}

function versionOf({ data, etag }: { readonly data: Webhook; readonly etag: string | null }): Version<WebhookFields> {
  return { fields: fieldsOf(data), etag };
}

function Delete({ webhook }: { readonly webhook: Webhook }): ReactElement {
  const [, go] = useLocation();
  const remove = useChange('DELETE /webhooks/{webhook_id}', {
    refresh: ['GET /webhooks'],
    onDone: () => go('/webhooks'),
  });
  return (
    <Group justify="space-between">
      <Text size="sm" maw={480}>
        {texts.deleteWebhookHelp}
      </Text>
      <DeleteButton
        what="webhook"
        name={nameOf(webhook)}
        deleting={remove.isPending}
        refusal={<ProblemNote error={remove.error} />}
        onDelete={() => remove.mutate({ path: { webhook_id: webhook.id } })}
        onClose={remove.reset}
      />
    </Group>
  );
}

function useViews(): FieldViews<WebhookFields> {
  const { sites } = useMe();
  const nameOf = (id: string): string => sites.find((site) => site.id === id)?.name ?? id;
  return {
    kind: { label: texts.type, show: (kind) => channelNamed(kind).label },
    ...draftViews,
    events: { label: texts.events, show: (events) => events.join(', ') },
    siteIds: {
      label: texts.sites,
      show: (ids) => (ids === null ? texts.allSitesOfCreator : ids.map(nameOf).join(', ')),
    },
    description: { label: texts.description, show: (text) => (text === '' ? texts.noneValue : text) },
    ordering: {
      label: texts.order,
      show: (ordering) => (ordering === 'engagement' ? texts.inOrderValue : texts.unorderedValue),
    },
    enabled: { label: texts.switch, show: (enabled) => (enabled ? texts.on : texts.off) },
  };
}
