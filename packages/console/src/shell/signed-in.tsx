import { Alert, Center, Loader } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import type { Operator, Site } from '@usher/sdk/api-types';
import type { Role } from '@usher/contract/roles';
import { useEffect, useMemo, useState, type ReactElement, type ReactNode } from 'react';
import { describeError } from '../components/describe-error.ts';
import { useRead } from '../data/use-api.ts';
import { hasRole, MeContext, type Me } from '../data/use-me.ts';
import { LiveFeed } from '../live/live-feed.ts';
import { LiveContext, useFeedItems, useLiveFeed } from '../live/use-live-feed.ts';
import { SignInAgain } from '../session/sign-in-again.tsx';
import { useSession } from '../session/use-session.ts';
import { Frame } from './frame.tsx';
import { texts } from './texts.ts';
import { ReloadWhenBack } from './reload-when-back.tsx';

/** There are few sites: one page of the maximum size has all of them. */
const maxSites = 100;

/** Everything after sign-in: the operator, their sites, and the live feed. */
export function SignedIn({ operatorId }: { readonly operatorId: string }): ReactElement {
  const { api } = useSession();
  const [live] = useState(() => new LiveFeed(api));
  useEffect(() => live.start(), [live]);
  return (
    <LiveContext value={live}>
      <OperatorLoader operatorId={operatorId}>
        <RefetchOnReset />
        <PresenceLease />
        <Frame />
      </OperatorLoader>
      <SignInAgain />
    </LiveContext>
  );
}

function OperatorLoader({
  operatorId,
  children,
}: {
  readonly operatorId: string;
  readonly children: ReactNode;
}): ReactElement {
  const operator = useRead('GET /operators/{operator_id}', { path: { operator_id: operatorId } });
  const session = useRead('GET /operator_authentication/sessions/current', {});
  const sites = useRead('GET /sites', { query: { per_page: maxSites } });
  const failed = [operator, session, sites].find(({ isError, data }) => isError && data === undefined);
  if (failed !== undefined)
    return (
      <Center mih="100vh" p="md">
        <Alert color="red" title={texts.couldNotLoadPage} role="alert">
          {describeError(failed.error)}
          <ReloadWhenBack />
        </Alert>
      </Center>
    );
  if (operator.data === undefined || session.data === undefined || sites.data === undefined)
    return (
      <Center mih="100vh">
        <Loader aria-label={texts.loading} />
      </Center>
    );
  return (
    <MeProvider operator={operator.data.data} roles={session.data.data.site_roles} sites={sites.data.data.sites}>
      {children}
    </MeProvider>
  );
}

interface MeProviderProps {
  readonly operator: Operator;
  readonly roles: Readonly<Record<string, Role>>;
  readonly sites: readonly Site[];
  readonly children: ReactNode;
}

function MeProvider({ operator, roles, sites, children }: MeProviderProps): ReactElement {
  const [chosen, choose] = useLocalStorage({
    key: 'usher-site',
    defaultValue: '',
    getInitialValueInEffect: false,
  });
  const me = useMemo<Me>(() => {
    const siteId = sites.some(({ id }) => id === chosen) ? chosen : null;
    return {
      operator,
      sites,
      roles,
      siteId,
      siteIds: siteId === null ? sites.map(({ id }) => id) : [siteId],
      chooseSite: (id) => choose(id ?? ''),
      can: (role, id) => hasRole(roles, role, id),
    };
  }, [operator, roles, sites, chosen, choose]);
  return <MeContext value={me}>{children}</MeContext>;
}

/** After a long gap the feed cannot replay what was missed: everything is read again. */
function RefetchOnReset(): null {
  const client = useQueryClient();
  useFeedItems(['feed.reset'], () => void client.invalidateQueries());
  return null;
}

/** Renews the operator's lease while a page is open; the lease expires after the last page is closed. */
function PresenceLease(): null {
  const live = useLiveFeed();
  const session = useRead('GET /operator_authentication/sessions/current', {});
  const id = session.data?.data.operator_id ?? '';
  const operator = useRead('GET /operators/{operator_id}', { path: { operator_id: id } }, { enabled: id !== '' });
  const client = useQueryClient();
  useFeedItems(['operator.state'], ({ data }) => {
    const state = data as Operator;
    if (state.id !== id) return;
    client.setQueryData(['GET /operators/{operator_id}', { operator_id: id }, null], (before: object | undefined) =>
      before === undefined ? before : { ...before, data: state },
    );
  });
  // Operators who are away have a lease, too. Without presence, or with presence that does not expire, there is none.
  const hasLease = (operator.data?.data.presence_expires_at ?? null) !== null;
  useEffect(() => live.holdPresence(hasLease), [live, hasLease]);
  return null;
}
