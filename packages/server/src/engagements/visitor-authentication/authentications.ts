import type { AuthenticationFailure } from '../../events/authentication-failures.ts';
import type { Sealer } from '../../identity/sealer.ts';
import type { Tokens } from '../../identity/tokens.ts';
import { isDatabaseUnavailable, type Sql } from '../../platform/database/database.ts';
import { DueWork } from '../../platform/database/due-work.ts';
import { Refusal } from '../../platform/errors.ts';
import { FetchFailed, type GuardedFetcher } from '../../platform/outbound/guarded-fetcher.ts';
import type { AccountId } from '../../platform/ids.ts';
import type { Log } from '../../platform/log.ts';
import { AuthenticationFailed } from './authentication-failed.ts';
import { concludeFailure, concludeSuccess, type Proven, type NotifyOperator } from './conclude-request.ts';
import { OpenidClient, type OpenidProvider } from './openid-client.ts';
import { clientSecretPurpose } from './providers/provider.ts';
import { findProvider } from './providers/store.ts';
import { proofPurpose, type Proof, type ClaimedRequest } from './requests/request.ts';
import { replaceProof, releaseRequest, claimRequest } from './requests/store.ts';

/** Concurrent requests per process, per account and per provider. The latter two keep a slow provider from delaying others. */
const concurrency = 32;
const concurrencyPerAccount = 16;
const concurrencyPerProvider = 4;
/**
 * Longer than a decision may take: four fetches of 10 s (metadata, code, keys, keys again) and a transaction of 20 s.
 */
const leaseSec = 90;
/** A request that was claimed more often than this without a decision fails. */
const maxAttempts = 5;

interface AuthenticationsOptions {
  /** For claiming requests, which waits for no lock. */
  readonly sql: Sql;
  /** For the decisions, which wait for locks of their account. */
  readonly sqlOf: (accountId: AccountId) => Sql;
  readonly log: Log;
  readonly sealer: Sealer;
  readonly tokens: Tokens;
  readonly fetcher: GuardedFetcher;
  readonly notifyOperator: NotifyOperator;
  /** Called after a decision was committed. */
  readonly onDecided: (accountId: AccountId) => void;
}

type Verdict =
  { readonly proven: Proven } | { readonly failure: AuthenticationFailure } | { readonly undecided: unknown };

/**
 * Decides authentication requests in the background. A request is a row: pending, then claimed by a process with a lease, then
 * decided once, together with its event. When a process dies, its requests can be claimed again after the lease. A process that
 * stops releases them.
 */
export class Authentications {
  readonly #options: AuthenticationsOptions;
  readonly #client: OpenidClient;
  readonly #work: DueWork<ClaimedRequest>;
  #stopped = false;

  constructor(options: AuthenticationsOptions) {
    this.#options = options;
    this.#client = new OpenidClient(options.fetcher);
    this.#work = new DueWork({
      what: 'an authentication',
      atOnce: concurrency,
      // One at a time: which request may be next depends on the running ones.
      claim: async () => [(await claimRequest(options.sql, leaseSec, this.#busy())) ?? []].flat(),
      handle: async (request) => this.#decide(request),
      log: options.log,
    });
  }

  /** Looks for pending requests now, and not only at the next poll. */
  wake(): void {
    this.#work.wake();
  }

  /** Aborts running decisions and releases their requests. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const stopping = this.#work.stop();
    await this.#options.fetcher.close();
    await stopping;
  }

  #busy(): { readonly accounts: string[]; readonly providers: string[] } {
    const running = [...this.#work.running];
    const accounts = running.map(({ accountId }) => accountId);
    const providers = running.map(({ providerId }) => providerId);
    return {
      accounts: repeatedIds(accounts, concurrencyPerAccount),
      providers: repeatedIds(providers, concurrencyPerProvider),
    };
  }

  /** Never rejects: a decision that cannot be written is retried when the lease expires. */
  async #decide(request: ClaimedRequest): Promise<void> {
    const { sqlOf, log, notifyOperator, onDecided } = this.#options;
    const sql = sqlOf(request.accountId);
    try {
      const verdict = await this.#verdict(request);
      if ('undecided' in verdict) {
        await releaseRequest(sql, request.id);
        return;
      }
      const decided =
        'proven' in verdict
          ? await concludeSuccess(sql, request, { proven: verdict.proven, notifyOperator })
          : await concludeFailure(sql, request, verdict.failure);
      if (decided) onDecided(request.accountId);
    } catch (error) {
      // A refusal: many other decisions of the account are waiting.
      if (!isDatabaseUnavailable(error) && !(error instanceof Refusal))
        log.error({ err: error, request: request.id }, 'could not store the decision on an authentication request');
    }
  }

  async #verdict(request: ClaimedRequest): Promise<Verdict> {
    try {
      if (request.attempts > maxAttempts) return { failure: 'error' };
      return { proven: await this.#prove(request) };
    } catch (error) {
      return this.#verdictOf(error, request);
    }
  }

  #verdictOf(error: unknown, { id, providerId }: ClaimedRequest): Verdict {
    // Stopping aborts fetches; that is no failure of the provider.
    if (this.#stopped || isDatabaseUnavailable(error)) return { undecided: error };
    const { log } = this.#options;
    const about = { err: error, request: id, provider: providerId };
    if (error instanceof AuthenticationFailed) {
      if (error.reason.startsWith('provider_'))
        log.info(about, 'could not authenticate a visitor: the identity provider is at fault');
      return { failure: error.reason };
    }
    if (error instanceof FetchFailed) {
      log.info(about, 'could not reach an identity provider');
      return { failure: 'provider_unreachable' };
    }
    log.error(about, 'could not decide an authentication request');
    return { failure: 'error' };
  }

  async #prove(request: ClaimedRequest): Promise<Proven> {
    const { sealer, tokens } = this.#options;
    const provider = await this.#provider(request);
    const proof = JSON.parse(await sealer.open(request.proof, proofPurpose(request.id))) as Proof;
    const idToken = await this.#idToken(request, provider, proof);
    const identity = await this.#client.check(provider, idToken, proof.nonce);
    const { accountId, visitorId } = request;
    const { trust = 'publishable' } = proof;
    const accessToken = await tokens.signVisitor({ accountId, visitorId, trust });
    return { identity, idToken, accessToken, seal: await sealer.seal() };
  }

  async #provider({ siteId, providerId }: ClaimedRequest): Promise<OpenidProvider> {
    const row = await findProvider(this.#options.sql, siteId, providerId);
    if (row === null) throw new AuthenticationFailed('provider_deleted');
    const { id, issuer, client_id: clientId, client_secret: sealed } = row;
    const clientSecret = sealed === null ? null : await this.#options.sealer.open(sealed, clientSecretPurpose(id));
    return { id, issuer, clientId, clientSecret };
  }

  /** A code can be exchanged only once, so the ID token is stored at once for whichever process claims the request next. */
  async #idToken(request: ClaimedRequest, provider: OpenidProvider, proof: Proof): Promise<string> {
    if (proof.kind === 'id_token') return proof.idToken;
    const idToken = await this.#client.exchange(provider, proof);
    const { nonce, trust = 'publishable' } = proof;
    const exchanged: Proof = { kind: 'id_token', idToken, nonce, trust };
    const seal = await this.#options.sealer.seal();
    await replaceProof(this.#options.sql, request.id, seal(JSON.stringify(exchanged), proofPurpose(request.id)));
    return idToken;
  }
}

/** Ids that occur at least `min` times. */
function repeatedIds(ids: readonly string[], min: number): string[] {
  const counts = Map.groupBy(ids, (id) => id);
  return [...counts].filter(([, same]) => same.length >= min).map(([id]) => id);
}
