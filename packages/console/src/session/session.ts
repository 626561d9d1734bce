import { Api, type Answer, type Operation } from '@usher/client/api';
import { problemOf, ProblemError, Unreachable } from '@usher/client/problem';
import { clearShelves } from '../data/browser-storage.ts';

/**
 * Who is at the console.
 *
 *   unknown   nobody has asked yet whether the browser holds a session
 *   away      the server did not answer when asked
 *   out       nobody is signed in
 *   in        somebody is; the token is at hand, in memory alone
 *   expired   somebody was, and everything on the page is still theirs: requests wait until they have signed in again
 */
export type SessionState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'away' }
  | { readonly kind: 'out' }
  | { readonly kind: 'in'; readonly operatorId: string; readonly sessionId: string | null }
  | { readonly kind: 'expired'; readonly operatorId: string };

export type Credentials =
  | { readonly email: string; readonly password: string }
  | { readonly api_key_id: string; readonly api_key_secret: string }
  | { readonly link: string };

export type SignedIn = Answer<'POST /operator_authentication/sessions'>;

const sessions = '/operator_authentication/sessions';
/** A token that ends within this time is not used any more. */
const renewMs = 60_000;

/**
 * The session is a cookie that no script can read. It is good for one thing, to be exchanged for a token of an hour, and the
 * token is kept here and nowhere else: a reload exchanges again.
 */
export class Session {
  #state: SessionState = { kind: 'unknown' };
  #token: { readonly text: string; readonly until: number } | null = null;
  #exchange: Promise<void> | null = null;
  readonly #listeners = new Set<() => void>();
  /** Tells the other tabs, whose session it is too. */
  readonly #channel = openChannel();
  readonly api = new Api({
    base: '',
    authorization: async () => this.#authorization(),
    renew: async (refused) => this.#renew(refused),
    creates,
  });

  constructor() {
    this.#channel?.addEventListener('message', ({ data }) => {
      if (data === 'out') this.#leave();
      // Somebody has come in elsewhere; if it is somebody else, this page is no longer theirs either.
      else if (data !== operatorOf(this.#state)) void this.look();
    });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): SessionState => this.#state;

  /** Whether the browser holds a session. */
  async look(): Promise<void> {
    await this.#exchangeOnce().catch(() => {
      if (this.#state.kind === 'unknown') this.#become({ kind: 'away' });
    });
  }

  async signIn(credentials: Credentials): Promise<void> {
    this.take(await post<SignedIn>(sessions, credentials));
  }

  /** What signing in by whichever way has answered. */
  take(answer: SignedIn): void {
    const { token, expires_in, operator_id: operatorId, session_id: sessionId } = answer;
    const before = operatorOf(this.#state);
    // What is on the page was somebody else's: nothing of it may stay, and nothing it still asks for may be asked in the other's name.
    if (before !== null && before !== operatorId) return startAnew();
    this.#token = { text: token, until: Date.now() + expires_in * 1_000 };
    const isNew = this.#state.kind !== 'in';
    this.#become({ kind: 'in', operatorId, sessionId });
    if (isNew) this.#channel?.postMessage(operatorId);
  }

  async signOut(where: 'here' | 'everywhere'): Promise<void> {
    await this.api.send(where === 'here' ? `${sessions}/current` : sessions, {
      method: 'DELETE',
      // So that the browser heeds what the answer says of the cookie.
      credentials: 'same-origin',
    });
    forgetTyped();
    this.#channel?.postMessage('out');
    this.#leave();
  }

  #leave(): void {
    this.#token = null;
    this.#become({ kind: 'out' });
  }

  async #authorization(): Promise<string> {
    if (this.#token === null || this.#token.until - Date.now() < renewMs) await this.#exchangeOnce();
    await this.#signedIn();
    return `Bearer ${this.#token?.text ?? ''}`;
  }

  async #renew(refused: string): Promise<boolean> {
    if (refused === `Bearer ${this.#token?.text ?? ''}`) {
      this.#token = null;
      await this.#exchangeOnce();
      await this.#signedIn();
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
      this.take(await post<SignedIn>(`${sessions}/current/token`, undefined));
    } catch (error) {
      if (!(error instanceof ProblemError) || error.status !== 401) throw error;
      this.#token = null;
      const operatorId = operatorOf(this.#state);
      this.#become(operatorId === null ? { kind: 'out' } : { kind: 'expired', operatorId });
    }
  }

  /** Waits for somebody who has to sign in again. What was asked by one who has left is not asked any more. */
  async #signedIn(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        const { kind } = this.#state;
        if (kind !== 'in' && kind !== 'out') return;
        this.#listeners.delete(look);
        if (kind === 'in') resolve();
        else reject(new Unreachable('nobody is signed in'));
      };
      this.#listeners.add(look);
      look();
    });
  }

  #become(state: SessionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

function operatorOf(state: SessionState): string | null {
  return 'operatorId' in state ? state.operatorId : null;
}

/** Without the question about unsaved changes: they are not those of whoever is here now. */
function startAnew(): void {
  addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), { capture: true });
  location.reload();
}

/** The few requests that go with the cookie and without a token. */
export async function post<Body>(path: string, body: unknown): Promise<Body> {
  let response: Response;
  try {
    response = await fetch(path, {
      method: 'POST',
      credentials: 'same-origin',
      cache: 'no-store',
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
  } catch (error) {
    throw new Unreachable(error);
  }
  if (!response.ok) throw await problemOf(response);
  return (await response.json()) as Body;
}

/** What was typed on the desk is kept for whoever comes back, not for whoever comes after somebody has left on purpose. */
function forgetTyped(): void {
  clearShelves('usher-desk ');
}

/** Where a browser blocks storage, Firefox refuses the channel too. Tabs then find out about each other when they next ask. */
function openChannel(): BroadcastChannel | null {
  try {
    return new BroadcastChannel('usher-session');
  } catch {
    return null;
  }
}

/** What must not be done twice by accident. Signing in, looking ahead and the traffic of a call may be. */
function creates(operation: Operation): boolean {
  return (
    operation.startsWith('POST /') && !/operator_authentication|\/preview$|\/(?:signals|typing\w*)$/.test(operation)
  );
}
