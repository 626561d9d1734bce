import type { VisitorToken } from '@usher/sdk/api-types';
import { fixedHeader } from '@usher/sdk/authorization';
import { UsherError } from '@usher/sdk/errors';
import { jsonRequest, readJson } from '@usher/sdk/request';
import { Transport } from '@usher/sdk/transport';
import type { Settings } from './settings.ts';
import type { Storage } from './storage.ts';

interface StoredVisitor {
  readonly id: string;
  readonly token: string;
  /** As `Date.now()`. */
  readonly expiresAt: number;
}

function isStoredVisitor(value: unknown): value is StoredVisitor {
  const { id, token, expiresAt } = (value ?? {}) as Partial<Record<keyof StoredVisitor, unknown>>;
  return typeof id === 'string' && typeof token === 'string' && typeof expiresAt === 'number';
}

/** A token is renewed when it expires within this time, so that no token expires during a conversation. */
const renewBeforeMs = 6 * 60 * 60 * 1000;

/**
 * The visitor of this browser. Created when the person first asks to talk, then stored and shared by all tabs.
 */
export class Visitor {
  readonly #settings: Settings;
  readonly #storage: Storage;
  #renewing: Promise<boolean> | null = null;

  constructor(settings: Settings, storage: Storage) {
    this.#settings = settings;
    this.#storage = storage;
  }

  get id(): string | null {
    return this.#stored?.id ?? null;
  }

  /** Creates the visitor unless there is one. */
  async ensure(name: string | null): Promise<void> {
    if (this.#stored !== null) return;
    const body = { site_id: this.#settings.site, ...(name === null ? {} : { name }) };
    this.#store(await this.#post('/visitors', `ApplicationToken ${this.#settings.token}`, body));
  }

  async authorization(): Promise<string> {
    const stored = this.#stored;
    if (stored === null) throw new UsherError({ status: 401, error: 'unauthenticated', detail: '', details: [] });
    if (stored.expiresAt - Date.now() < renewBeforeMs) await this.renew(`Bearer ${stored.token}`);
    return `Bearer ${this.#stored?.token ?? stored.token}`;
  }

  /** Replaces a token that was refused or is about to expire. Returns whether there is another token now. */
  async renew(refused: string): Promise<boolean> {
    const stored = this.#stored;
    if (stored === null) return false;
    // Another tab has renewed the token already.
    if (`Bearer ${stored.token}` !== refused) return true;
    this.#renewing ??= this.#post(`/visitors/${stored.id}/token`, refused)
      .then(
        (token) => {
          this.#store(token);
          return true;
        },
        () => false,
      )
      .finally(() => {
        this.#renewing = null;
      });
    return this.#renewing;
  }

  forget(): void {
    this.#storage.remove('visitor');
  }

  get #stored(): StoredVisitor | null {
    const stored = this.#storage.get('visitor', isStoredVisitor);
    return stored === null || stored.expiresAt <= Date.now() ? null : stored;
  }

  #store({ id, access_token: token, expires_in: seconds }: VisitorToken): void {
    this.#storage.set('visitor', { id, token, expiresAt: Date.now() + seconds * 1000 } satisfies StoredVisitor);
  }

  async #post(path: string, authorization: string, body?: object): Promise<VisitorToken> {
    const transport = new Transport({ url: this.#settings.baseUrl, maxRetries: 0 }, fixedHeader(authorization));
    return (await transport.send(jsonRequest({ method: 'POST', path, body }), readJson)) as VisitorToken;
  }
}
