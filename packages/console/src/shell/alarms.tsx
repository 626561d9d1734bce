import { Suspense, type ReactElement } from 'react';
import { lazyComponent } from '../components/lazy-component.ts';
import { useMe } from '../data/use-me.ts';
import { ErrorBoundary, NoFallback } from './error-boundary.tsx';

const WebhookAlarms = lazyComponent(async () => (await import('../pages/webhooks/alarm-menu.tsx')).WebhookAlarms);

/** What needs the attention of a super_manager, whichever page is open. */
export function Alarms(): ReactElement | null {
  const me = useMe();
  if (!me.can('super_manager')) return null;
  return (
    <ErrorBoundary fallback={NoFallback}>
      <Suspense>
        <WebhookAlarms />
      </Suspense>
    </ErrorBoundary>
  );
}
