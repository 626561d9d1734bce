import type { Api } from '@usher/client/api';

/** The lease while the tab is hidden. Phones suspend hidden tabs, so the place in line is kept longer. */
const hiddenLeaseSec = 120;
/** The lease while the tab is visible, as long as the feed's. A visitor who closes the tab is gone after it. */
const leaseSec = 30;

interface PresenceOptions {
  readonly api: Api;
  /** `null`: there is no conversation, so no lease is needed. */
  readonly visitorId: () => string | null;
  /** The page is visible again, or the network is back. */
  readonly onBack: () => void;
}

/**
 * Extends the visitor's presence while the tab is hidden. The open feed holds the presence, which expires half a minute after the tab
 * is closed. A reload is faster than that, so it keeps the place in line.
 */
export function watchPresence({ api, visitorId, onBack }: PresenceOptions): void {
  let isLeaving = false;
  // When a page is closed, `pagehide` comes before `visibilitychange`. The lease of a closed page must not be extended.
  window.addEventListener('pagehide', () => {
    isLeaving = true;
  });
  window.addEventListener('pageshow', () => {
    isLeaving = false;
  });
  window.addEventListener('online', onBack);
  document.addEventListener('visibilitychange', () => {
    const isHidden = document.visibilityState === 'hidden';
    if (!isHidden) onBack();
    const id = visitorId();
    if (!isLeaving && id !== null) void renewLease(api, id, isHidden ? hiddenLeaseSec : leaseSec);
  });
}

async function renewLease(api: Api, visitorId: string, seconds: number): Promise<void> {
  const request = { path: { visitor_id: visitorId }, body: { expires_in_sec: seconds } };
  // The page may be suspended at any moment now.
  await api.call('PUT /visitors/{visitor_id}/presence', { ...request, keepalive: true }).catch(() => undefined);
}
