import { Api, type Answer, type Operation } from '@usher/client/api';
import { UsherError, UsherUnreachable } from '@usher/sdk/errors';
import { jsonRequest, readJson } from '@usher/sdk/request';
import { Transport } from '@usher/sdk/transport';
import { clearStorage } from '../data/browser-storage.ts';
import { pathPrefix } from '../path-prefix.ts';

/**
 * The state of the session.
 *
 *   unknown      the console has not checked yet whether the browser has a session
 *   unreachable  the server did not answer that check
 *   out          nobody is signed in
 *   in           an operator is signed in; the token is in memory only
 *   expired      the session of the operator expired; the page still shows their data, and requests wait until they sign in again
 */
export type SessionState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'out' }
  | { readonly kind: 'in'; readonly operatorId: string; readonly sessionId: string | null }
  | { readonly kind: 'expired'; readonly operatorId: string };

export type Credentials =
  | { readonly email: string; readonly password: string }
  | { readonly api_key_id: string; readonly api_key_secret: string }
  | { readonly link: string };

export type SignedIn = Answer<'POST /operator_authentication/sessions'>;

const sessions = '/operator_authentication/sessions';
/** A token that expires within this time is not used any more. */
const renewMs = 60_000;

/**
 * The session is a cookie that no script can read. It can only be exchanged for a token that lives an hour. The token is kept in
 * memory, so a reload exchanges the cookie again.
 */
export class Session {
  #state: SessionState = { kind: 'unknown' };
  #token: { readonly text: string; readonly until: number } | null = null;
  #exchange: Promise<void> | null = null;
  readonly #listeners = new Set<() => void>();
  readonly #beforeSignOut = new Set<() => Promise<void>>();
  /** Notifies other tabs, which share the session. */
  readonly #channel = openChannel();
  readonly api = new Api({
    base: pathPrefix,
    authorization: async () => this.#authorization(),
    renew: async (refused) => this.#renew(refused),
    creates,
  });

  constructor() {
    this.#channel?.addEventListener('message', ({ data }) => {
      if (data === 'out') this.#clear();
      // Somebody signed in in another tab; if it is another operator, this page is no longer theirs.
      else if (data !== operatorOf(this.#state)) void this.check();
    });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): SessionState => this.#state;

  /** Checks whether the browser has a session. */
  async check(): Promise<void> {
    await this.#exchangeOnce().catch(() => {
      if (this.#state.kind === 'unknown') this.#setState({ kind: 'unreachable' });
    });
  }

  async signIn(credentials: Credentials): Promise<void> {
    this.applySignIn(await post<SignedIn>(sessions, credentials));
  }

  /** Handles the response of any sign-in. */
  applySignIn(answer: SignedIn): void {
    const { token, expires_in, operator_id: operatorId, session_id: sessionId } = answer;
    const before = operatorOf(this.#state);
    // The page belonged to another operator: reload, so that nothing remains and no pending request runs as the new operator.
    if (before !== null && before !== operatorId) return reloadWithoutPrompt();
    this.#token = { text: token, until: Date.now() + expires_in * 1_000 };
    const isNew = this.#state.kind !== 'in';
    this.#setState({ kind: 'in', operatorId, sessionId });
    if (isNew) this.#channel?.postMessage(operatorId);
  }

  /** Registers work that needs the token a last time. Returns the function that unregisters it. */
  beforeSignOut(work: () => Promise<void>): () => void {
    this.#beforeSignOut.add(work);
    return () => this.#beforeSignOut.delete(work);
  }

  async signOut(where: 'here' | 'everywhere'): Promise<void> {
    // A failure must not keep the operator signed in.
    await Promise.allSettled([...this.#beforeSignOut].map(async (work) => work()));
    await this.api.send({
      method: 'DELETE',
      path: where === 'here' ? `${sessions}/current` : sessions,
      // Lets the browser apply the cookie of the response.
      credentials: 'same-origin',
    });
    clearDeskDrafts();
    this.#channel?.postMessage('out');
    this.#clear();
  }

  #clear(): void {
    this.#token = null;
    this.#setState({ kind: 'out' });
  }

  async #authorization(): Promise<string> {
    if (this.#token === null || this.#token.until - Date.now() < renewMs) await this.#exchangeOnce();
    await this.#waitForSignIn();
    return `Bearer ${this.#token?.text ?? ''}`;
  }

  async #renew(refused: string): Promise<boolean> {
    if (refused === `Bearer ${this.#token?.text ?? ''}`) {
      this.#token = null;
      await this.#exchangeOnce();
      await this.#waitForSignIn();
    }
    return true;
  }

  async #exchangeOnce(): Promise<void> {
    this.#exchange ??= this.#exchangeNow().finally(() => {
      this.#exchange = null;
    });
    await this.#exchange;
  }

  async #exchangeNow(): Promise<void> {
    try {
      this.applySignIn(await post<SignedIn>(`${sessions}/current/token`, undefined));
    } catch (error) {
      if (!(error instanceof UsherError) || error.status !== 401) throw error;
      this.#token = null;
      const operatorId = operatorOf(this.#state);
      this.#setState(operatorId === null ? { kind: 'out' } : { kind: 'expired', operatorId });
    }
  }

  /** Waits until the operator has signed in again. Requests of an operator who signed out are dropped. */
  async #waitForSignIn(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const settle = (): void => {
        const { kind } = this.#state;
        if (kind !== 'in' && kind !== 'out') return;
        this.#listeners.delete(settle);
        if (kind === 'in') resolve();
        else reject(new UsherUnreachable('nobody is signed in'));
      };
      this.#listeners.add(settle);
      settle();
    });
  }

  #setState(state: SessionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

function operatorOf(state: SessionState): string | null {
  return 'operatorId' in state ? state.operatorId : null;
}

/** Reloads without asking about unsaved changes: they belong to another operator. */
function reloadWithoutPrompt(): void {
  addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), { capture: true });
  location.reload();
}

const withCookie = new Transport({ url: pathPrefix, maxRetries: 0 });

/** The few requests that use the cookie instead of a token. */
export async function post<Body>(path: string, body: unknown): Promise<Body> {
  const request = jsonRequest({ method: 'POST', path, body, credentials: 'same-origin' });
  return (await withCookie.send(request, readJson)) as Body;
}

/** Drafts on the desk are kept after expiry, but deleted after a deliberate sign-out. */
function clearDeskDrafts(): void {
  clearStorage('usher-desk ');
}

/** Where storage is blocked, Firefox refuses the channel, too. Tabs then notice a change with their next request. */
function openChannel(): BroadcastChannel | null {
  try {
    return new BroadcastChannel('usher-session');
  } catch {
    return null;
  }
}

/** Requests that must not be repeated by accident. Sign-ins, previews and call signals may be. */
function creates(operation: Operation): boolean {
  return (
    operation.startsWith('POST /') && !/operator_authentication|\/preview$|\/(?:signals|typing\w*)$/.test(operation)
  );
}
