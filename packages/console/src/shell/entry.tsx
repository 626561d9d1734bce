import { Center, Loader, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState, type ReactElement } from 'react';
import { useLocation } from 'wouter';
import { InvitationPage } from '../session/invitation-page.tsx';
import { CenteredCard, LinkPage, SignInPage } from '../session/sign-in-page.tsx';
import { useSession, useSessionState } from '../session/use-session.ts';
import { SignedIn } from './signed-in.tsx';
import { texts } from './texts.ts';
import { ReloadWhenBack } from './reload-when-back.tsx';

/** Chooses the page by the state of the session. */
export function Entry(): ReactElement {
  const session = useSession();
  const state = useSessionState();
  const client = useQueryClient();
  const [path, go] = useLocation();
  const [secret, setSecret] = useState(() => location.hash.slice(1));
  const leave = useCallback(() => {
    setSecret('');
    go('/', { replace: true });
  }, [go]);
  const byLink = secret !== '' && (path === '/sign-in' || path === '/invitation');

  useEffect(() => {
    if (state.kind === 'unknown' && !byLink) void session.check();
    // Clear all cached data, so that the next operator does not see it.
    if (state.kind === 'out') client.clear();
  }, [session, state.kind, byLink, client]);

  if (byLink && path === '/sign-in') return <LinkPage link={secret} leave={leave} />;
  if (byLink) return <InvitationPage invitation={secret} leave={leave} />;
  switch (state.kind) {
    case 'unknown':
      return (
        <Center mih="100vh">
          <Loader aria-label={texts.loading} />
        </Center>
      );
    case 'unreachable':
      return (
        <CenteredCard title={texts.cantReachServer}>
          <Text>{texts.serverMayBeStarting}</Text>
          <ReloadWhenBack />
        </CenteredCard>
      );
    case 'out':
      return <SignInPage />;
    case 'in':
    case 'expired':
      return <SignedIn operatorId={state.operatorId} />;
  }
}
