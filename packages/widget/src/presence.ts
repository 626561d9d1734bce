import type { Api } from '@usher/client/api';

/** A tab that is not looked at may be stopped by the system, on phones above all: its place is kept for so long. */
const hiddenLeaseSec = 120;
/** As the feed renews it: whoever closes the tab is gone after that. */
const leaseSec = 30;

interface Parts {
  readonly api: Api;
  /** `null`: nothing is under way, so that there is nothing to keep. */
  readonly visitorId: () => string | null;
  /** Somebody looks at the page again, or the network is back. */
  readonly onBack: () => void;
}

/**
 * The open feed holds the visitor's presence, and half a minute after the tab is closed it is over: a reload is quicker than
 * that, and keeps the place in the line. Only who looks at something else for a while is given longer.
 */
export function watchPresence({ api, visitorId, onBack }: Parts): void {
  let isLeaving = false;
  // Comes first when a page is closed: its lease is not to be made longer.
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
    if (!isLeaving && id !== null) void lease(api, id, isHidden ? hiddenLeaseSec : leaseSec);
  });
}

async function lease(api: Api, visitorId: string, seconds: number): Promise<void> {
  const body = JSON.stringify({ expires_in_sec: seconds });
  const headers = { 'content-type': 'application/json' };
  // The page may be stopped at any moment from now on.
  const init = { method: 'PUT', headers, body, keepalive: true };
  await api.send(`/visitors/${visitorId}/presence`, init).catch(() => undefined);
}
