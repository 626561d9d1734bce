import { Alert, Button, Group, Stack, Text, Title } from '@mantine/core';
import type { NewInvitation, Operator } from '@usher/client/api-types';
import { useState, type ReactElement } from 'react';
import { RichText } from '../../components/rich-text.tsx';
import { At } from '../../components/at.tsx';
import { AskFirst } from '../../components/ask-first.tsx';
import { Copyable } from '../../components/copyable.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { useChange, useRead } from '../../data/use-api.ts';
import { texts } from './texts.ts';

const reads = ['GET /operators/{operator_id}/invitations', 'GET /operators/{operator_id}', 'GET /operators'] as const;

/** The sign-in of an operator: password and invitation. */
export function SignIn({ person }: { readonly person: Operator }): ReactElement {
  const path = { operator_id: person.id };
  const [made, setMade] = useState<NewInvitation | null>(null);
  const read = useRead('GET /operators/{operator_id}/invitations', { path });
  const waiting = read.data?.data.invitations[0] ?? null;
  const invite = useChange('POST /operators/{operator_id}/invitations', {
    refresh: reads,
    onDone: ({ data }) => setMade(data),
  });
  const withdraw = useChange('DELETE /operators/{operator_id}/invitations/{invitation_id}', {
    refresh: reads,
    onDone: () => setMade(null),
  });
  const isShown = made !== null && (waiting === null || waiting.id === made.id);
  return (
    <Stack gap="sm" component="section" aria-labelledby="sign-in">
      <Title order={2} size="h4" id="sign-in">
        {texts.signIn}
      </Title>
      <Text size="sm">{person.sign_in.password ? texts.operatorHasPassword : texts.noPasswordYet}</Text>
      {waiting === null ? null : (
        <Text size="sm">
          <RichText text={texts.invitationPending} values={{ time: <At at={waiting.expires_at} /> }} />
        </Text>
      )}
      {isShown && waiting !== null ? (
        <Alert color="blue" title={texts.sendThemLink}>
          <Copyable
            label={texts.invitationLink}
            description={texts.invitationLinkHelp}
            value={new URL(made.url, location.origin).href}
          />
        </Alert>
      ) : null}
      <ProblemNote error={read.error ?? invite.error} />
      {person.enabled ? (
        <Group gap="xs">
          <Button
            variant={waiting === null && !person.sign_in.password ? 'filled' : 'default'}
            loading={invite.isPending}
            onClick={() => invite.mutate({ path, body: {} })}
          >
            {waiting === null
              ? person.sign_in.password
                ? texts.inviteToSetNewPassword
                : texts.invite
              : texts.renewLink}
          </Button>
          {waiting === null ? null : (
            <AskFirst
              label={texts.revoke}
              question={texts.revokeInvitation}
              busy={withdraw.isPending}
              error={withdraw.error}
              onClose={() => withdraw.reset()}
              onYes={(done) => withdraw.mutate({ path: { ...path, invitation_id: waiting.id } }, { onSuccess: done })}
            >
              <Text size="sm">{texts.revokeHelp}</Text>
            </AskFirst>
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
