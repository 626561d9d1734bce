import { ProblemError, problemOf, Unreachable } from '@usher/client/problem';
import type { VisitorToken } from '@usher/client/api-types';
import type { Settings } from './settings.ts';
import type { Storage } from './storage.ts';

interface Kept {
  readonly id: string;
  readonly token: string;
  /** As `Date.now()`. */
  readonly expiresAt: number;
}

function isKept(value: unknown): value is Kept {
  const { id, token, expiresAt } = (value ?? {}) as Partial<Record<keyof Kept, unknown>>;
  return typeof id === 'string' && typeof token === 'string' && typeof expiresAt === 'number';
}

/** A token is renewed when it has less than this left, so that none ends in the middle of a sentence. */
const renewBeforeMs = 6 * 60 * 60 * 1000;

/**
 * Who this browser is to the site: made when somebody asks to talk and not before, kept from then on, the same in all tabs.
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
    return this.#kept?.id ?? null;
  }

  /** Resolves when there is one. */
  async ensure(name: string | null): Promise<void> {
    if (this.#kept !== null) return;
    const body = { site_id: this.#settings.site, ...(name === null ? {} : { name }) };
    this.#keep(await this.#post('/visitors', `ApplicationToken ${this.#settings.token}`, body));
  }

  async authorization(): Promise<string> {
    const kept = this.#kept;
    if (kept === null) throw new ProblemError({ status: 401, error: 'unauthenticated', detail: '', details: [] });
    if (kept.expiresAt - Date.now() < renewBeforeMs) await this.renew(`Bearer ${kept.token}`);
    return `Bearer ${this.#kept?.token ?? kept.token}`;
  }

  /** Whether there is another token than the one that was refused, or is about to end. */
  async renew(refused: string): Promise<boolean> {
    const kept = this.#kept;
    if (kept === null) return false;
    // Another tab was quicker.
    if (`Bearer ${kept.token}` !== refused) return true;
    this.#renewing ??= this.#post(`/visitors/${kept.id}/token`, refused)
      .then(
        (answer) => {
          this.#keep(answer);
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

  get #kept(): Kept | null {
    const kept = this.#storage.get('visitor', isKept);
    return kept === null || kept.expiresAt <= Date.now() ? null : kept;
  }

  #keep({ id, access_token: token, expires_in: seconds }: VisitorToken): void {
    this.#storage.set('visitor', { id, token, expiresAt: Date.now() + seconds * 1000 } satisfies Kept);
  }

  async #post(path: string, authorization: string, body?: object): Promise<VisitorToken> {
    const response = await fetch(`${this.#settings.origin}${path}`, {
      method: 'POST',
      headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      credentials: 'omit',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      throw new Unreachable(error);
    });
    if (!response.ok) throw await problemOf(response);
    return (await response.json()) as VisitorToken;
  }
}
