import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './global.css';
import './forced-colours.css';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { UsherUnreachable } from '@usher/sdk/errors';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { confirmNavigation } from './components/editing/unsaved-changes.ts';
import { pathPrefix } from './path-prefix.ts';
import { ErrorBoundary, FailedPage } from './shell/error-boundary.tsx';
import { titleClippedTexts } from './shell/clipped-titles.ts';
import { Entry } from './shell/entry.tsx';
import { Session } from './session/session.ts';
import { SessionContext } from './session/use-session.ts';
import { cssVariables, theme } from './theme.ts';

const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
// Dialogs add styles to the page while they are open.
setNonce(nonce);
const session = new Session();
/** The live feed keeps most data current. Data without events is refetched when it is shown again after this time. */
const staleMs = 20_000;
const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: staleMs,
      refetchOnWindowFocus: false,
      retry: (failures, error) => error instanceof UsherUnreachable && failures < 3,
    },
    mutations: { networkMode: 'always' },
  },
});

titleClippedTexts(document.body);
const root = document.querySelector('#root');
if (root === null) throw new Error('the page has no #root element');
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      {/* Away from the buttons that save, which are at the bottom right. */}
      <Notifications position="top-center" />
      <QueryClientProvider client={client}>
        <SessionContext value={session}>
          <Router base={`${pathPrefix}/console`} aroundNav={confirmNavigation}>
            <ErrorBoundary fallback={FailedPage}>
              <Entry />
            </ErrorBoundary>
          </Router>
        </SessionContext>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
