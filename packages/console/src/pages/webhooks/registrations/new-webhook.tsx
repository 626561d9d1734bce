import { Anchor, Button, Checkbox, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { NewWebhook as MadeWebhook } from '@usher/sdk/api-types';
import { secretFault } from '@usher/contract/webhook-secret';
import { useRef, useState, type SubmitEvent, type ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import { faultsOf, hasOnlyFieldErrors } from '../../../components/faults.ts';
import { PageTitle } from '../../../components/page-title.tsx';
import { ProblemNote } from '../../../components/problem.tsx';
import { useEditing } from '../../../components/editing/use-editing.ts';
import { useSession } from '../../../session/use-session.ts';
import { channelNamed } from '../channels/channels.ts';
import { texts } from '../texts.ts';
import { bodyOf, emptyFields, fieldsOf, isTyped, violationsOf } from './fields.ts';
import { NewSecret } from './new-secret.tsx';
import { WebhookForm } from './webhook-form.tsx';

export function NewWebhook(): ReactElement {
  const { api } = useSession();
  const client = useQueryClient();
  const [, go] = useLocation();
  const [created, setCreated] = useState<MadeWebhook | null>(null);
  const answered = useRef<MadeWebhook | null>(null);
  const [tried, setTried] = useState(false);
  const [ownSecret, setOwnSecret] = useState<string | null>(null);
  const editing = useEditing({
    current: { fields: emptyFields, etag: null },
    save: async (fields) => {
      const secret = channelNamed(fields.kind).isSigned && ownSecret !== null ? { secret: ownSecret } : {};
      const { data } = await api.ask('POST /webhooks', { body: { ...bodyOf(fields), ...secret } });
      answered.current = data;
      return { fields: fieldsOf(data), etag: null };
    },
    readAgain: async () => ({ fields: emptyFields, etag: null }),
    onSaved: () => {
      void client.invalidateQueries({ queryKey: ['GET /webhooks'] });
      const { current } = answered;
      if (current?.secret === null) go(`/webhooks/${current.id}`);
      else setCreated(current);
    },
  });
  const { draft } = editing;
  const { isSigned } = channelNamed(draft.kind);
  const ownSecretFault = isSigned && ownSecret !== null ? secretFault(ownSecret) : null;
  const local = violationsOf(draft);
  const shown = local.filter(({ attribute }) => tried || isTyped(draft, attribute));
  const faults = faultsOf(shown, editing.error);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    setTried(true);
    if (local.length === 0 && ownSecretFault === null) editing.submit();
  };
  const openWebhook = (): void => go(`/webhooks/${created?.id ?? ''}`);
  return (
    <>
      <PageTitle title={texts.newWebhook} />
      <form onSubmit={submit} noValidate aria-label={texts.newWebhook}>
        <Stack maw={720} gap="md">
          <WebhookForm fields={draft} set={editing.set} faults={faults} />
          {isSigned ? (
            <OwnSecret
              value={ownSecret}
              onChange={setOwnSecret}
              error={(ownSecret === '' && !tried ? null : ownSecretFault) ?? faultsOf(editing.error)('/secret')}
            />
          ) : null}
          {hasOnlyFieldErrors(editing.error) ? null : <ProblemNote error={editing.error} />}
          <Group gap="xs">
            <Button type="submit" loading={editing.saving}>
              {texts.createWebhook}
            </Button>
            <Anchor component={Link} href="/webhooks" size="sm">
              {texts.cancel}
            </Anchor>
          </Group>
        </Stack>
      </form>
      <Modal
        opened={created !== null}
        onClose={openWebhook}
        title={texts.webhookCreated}
        closeButtonProps={{ 'aria-label': texts.close }}
        closeOnClickOutside={false}
        size="lg"
      >
        <Stack>
          <NewSecret secret={created?.secret ?? ''} />
          <Button onClick={openWebhook} w="fit-content">
            {texts.secretSaved}
          </Button>
        </Stack>
      </Modal>
    </>
  );
}

interface OwnSecretProps {
  readonly value: string | null;
  readonly onChange: (value: string | null) => void;
  readonly error: string | null | undefined;
}

function OwnSecret({ value, onChange, error }: OwnSecretProps): ReactElement {
  return (
    <Stack gap="xs">
      <Checkbox
        label={texts.ownSecret}
        description={texts.ownSecretHelp}
        checked={value !== null}
        onChange={(event) => onChange(event.currentTarget.checked ? '' : null)}
      />
      {value === null ? null : (
        <TextInput
          label={texts.secret}
          placeholder="whsec_…"
          autoComplete="off"
          spellCheck={false}
          value={value}
          error={error}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </Stack>
  );
}
