import { Alert, Button, Group, Stack, Text, Title } from '@mantine/core';
import type { NewInvitation, Operator } from '@usher/sdk/api-types';
import { useState, type ReactElement } from 'react';
import { RichText } from '../../components/rich-text.tsx';
import { Timestamp } from '../../components/time/timestamp.tsx';
import { ConfirmButton } from '../../components/editing/confirm-button.tsx';
import { Copyable } from '../../components/copyable.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { useChange, useRead } from '../../data/use-api.ts';
import { texts } from './texts.ts';

const reads = ['GET /operators/{operator_id}/invitations', 'GET /operators/{operator_id}', 'GET /operators'] as const;

/** The sign-in of an operator: password and invitation. */
export function SignIn({ person }: { readonly person: Operator }): ReactElement {
  const path = { operator_id: person.id };
  const [created, setCreated] = useState<NewInvitation | null>(null);
  const read = useRead('GET /operators/{operator_id}/invitations', { path });
  const pending = read.data?.data.invitations[0] ?? null;
  const invite = useChange('POST /operators/{operator_id}/invitations', {
    refresh: reads,
    onDone: ({ data }) => setCreated(data),
  });
  const revoke = useChange('DELETE /operators/{operator_id}/invitations/{invitation_id}', {
    refresh: reads,
    onDone: () => setCreated(null),
  });
  const isShown = created !== null && (pending === null || pending.id === created.id);
  return (
    <Stack gap="sm" component="section" aria-labelledby="sign-in">
      <Title order={2} size="h4" id="sign-in">
        {texts.signIn}
      </Title>
      <Text size="sm">{person.sign_in.password ? texts.operatorHasPassword : texts.noPasswordYet}</Text>
      {pending === null ? null : (
        <Text size="sm">
          <RichText text={texts.invitationPending} values={{ time: <Timestamp at={pending.expires_at} /> }} />
        </Text>
      )}
      {isShown && pending !== null ? (
        <Alert color="blue" title={texts.sendThemLink}>
          <Copyable
            label={texts.invitationLink}
            description={texts.invitationLinkHelp}
            value={new URL(created.url, location.origin).href}
          />
        </Alert>
      ) : null}
      <ProblemNote error={read.error ?? invite.error} />
      {person.enabled ? (
        <Group gap="xs">
          <Button
            variant={pending === null && !person.sign_in.password ? 'filled' : 'default'}
            loading={invite.isPending}
            onClick={() => invite.mutate({ path, body: {} })}
          >
            {pending === null
              ? person.sign_in.password
                ? texts.inviteToSetNewPassword
                : texts.invite
              : texts.renewLink}
          </Button>
          {pending === null ? null : (
            <ConfirmButton
              label={texts.revoke}
              question={texts.revokeInvitation}
              busy={revoke.isPending}
              error={revoke.error}
              onClose={() => revoke.reset()}
              onConfirm={(done) => revoke.mutate({ path: { ...path, invitation_id: pending.id } }, { onSuccess: done })}
            >
              <Text size="sm">{texts.revokeHelp}</Text>
            </ConfirmButton>
          )}
        </Group>
      ) : (
        <Text size="sm" c="dimmed">
          {texts.disabledSignInHelp}
        </Text>
      )}
    </Stack>
  );
}
