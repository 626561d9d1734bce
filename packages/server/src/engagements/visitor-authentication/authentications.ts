import type { AuthenticationFailure } from '../../events/authentication-failures.ts';
import type { Sealer } from '../../identity/sealer.ts';
import type { Tokens } from '../../identity/tokens.ts';
import { isDatabaseUnavailable, type Sql } from '../../platform/database.ts';
import { DueWork } from '../../platform/due-work.ts';
import { FetchFailed, type GuardedFetcher } from '../../platform/guarded-fetcher.ts';
import type { AccountId } from '../../platform/ids.ts';
import type { Log } from '../../platform/log.ts';
import { AuthenticationFailed } from './authentication-failed.ts';
import { concludeFailure, concludeSuccess, type Proven, type TellEngagement } from './conclude-request.ts';
import { OpenidClient, type OpenidProvider } from './openid-client.ts';
import { clientSecretPurpose } from './providers/provider.ts';
import { findProvider } from './providers/store.ts';
import { proofPurpose, type Proof, type TakenRequest } from './requests/request.ts';
import { replaceProof, returnRequest, takeRequest } from './requests/store.ts';

/** Requests that a process decides at once; and of them, those of one account and provider: slow ones hold up no others. */
const atOnce = 32;
const atOnceOfAccount = 16;
const atOnceOfProvider = 4;
/**
 * Longer than deciding takes at most: four fetches (the provider, the code, its keys, its keys again) of 10 s, and a
 * transaction of 20 s.
 */
const leaseSec = 90;
/** A request that has so often been taken and not decided is not taken in earnest again. */
const mostAttempts = 5;

interface AuthenticationsOptions {
  readonly sql: Sql;
  readonly log: Log;
  readonly sealer: Sealer;
  readonly tokens: Tokens;
  readonly fetcher: GuardedFetcher;
  readonly tell: TellEngagement;
  /** Something of the account was committed. */
  readonly onDecided: (accountId: AccountId) => void;
}

type Verdict =
  { readonly proven: Proven } | { readonly failure: AuthenticationFailure } | { readonly undecided: unknown };

/**
 * Decides authentication requests in the background. A request is a row: pending, and taken for a while by whoever is at
 * it; then decided, once, together with its event. A process that dies leaves its requests to be taken again when that
 * while is over. One that stops gives them back.
 */
export class Authentications {
  readonly #options: AuthenticationsOptions;
  readonly #client: OpenidClient;
  readonly #work: DueWork<TakenRequest>;
  #stopped = false;

  constructor(options: AuthenticationsOptions) {
    this.#options = options;
    this.#client = new OpenidClient(options.fetcher);
    this.#work = new DueWork({
      what: 'an authentication',
      atOnce,
      // One at a time: which may be next depends on those under way.
      claim: async () => [(await takeRequest(options.sql, leaseSec, this.#busy())) ?? []].flat(),
      handle: async (request) => this.#decide(request),
      log: options.log,
    });
  }

  /** There may be something to decide: looks for it now, and not only at the next poll. */
  look(): void {
    this.#work.wake();
  }

  /** Cuts off what is under way, and gives it back. */
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
    return { accounts: oftenIn(accounts, atOnceOfAccount), providers: oftenIn(providers, atOnceOfProvider) };
  }

  /** Never rejects: what cannot be written now is taken again when its time is over. */
  async #decide(request: TakenRequest): Promise<void> {
    const { sql, log, tell, onDecided } = this.#options;
    try {
      const verdict = await this.#verdict(request);
      if ('undecided' in verdict) {
        await returnRequest(sql, request.id);
        return;
      }
      const decided =
        'proven' in verdict
          ? await concludeSuccess(sql, request, { proven: verdict.proven, tell })
          : await concludeFailure(sql, request, verdict.failure);
      if (decided) onDecided(request.accountId);
    } catch (error) {
      if (!isDatabaseUnavailable(error)) log.error({ err: error, request: request.id }, 'an authentication failed');
    }
  }

  async #verdict(request: TakenRequest): Promise<Verdict> {
    try {
      if (request.attempts > mostAttempts) return { failure: 'error' };
      return { proven: await this.#prove(request) };
    } catch (error) {
      return this.#verdictOf(error, request);
    }
  }

  #verdictOf(error: unknown, { id, providerId }: TakenRequest): Verdict {
    // Stopping cuts off fetches, which says nothing of the provider.
    if (this.#stopped || isDatabaseUnavailable(error)) return { undecided: error };
    const { log } = this.#options;
    const about = { err: error, request: id, provider: providerId };
    if (error instanceof AuthenticationFailed) {
      if (error.reason.startsWith('provider_')) log.info(about, 'a visitor could not be authenticated');
      return { failure: error.reason };
    }
    if (error instanceof FetchFailed) {
      log.info(about, 'an identity provider could not be reached');
      return { failure: 'provider_unreachable' };
    }
    log.error(about, 'an authentication could not be decided');
    return { failure: 'error' };
  }

  async #prove(request: TakenRequest): Promise<Proven> {
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

  async #provider({ siteId, providerId }: TakenRequest): Promise<OpenidProvider> {
    const row = await findProvider(this.#options.sql, siteId, providerId);
    if (row === null) throw new AuthenticationFailed('provider_deleted');
    const { id, issuer, client_id: clientId, client_secret: sealed } = row;
    const clientSecret = sealed === null ? null : await this.#options.sealer.open(sealed, clientSecretPurpose(id));
    return { id, issuer, clientId, clientSecret };
  }

  /** A code is spent once it is exchanged: whoever takes the request after us must find what we got for it. */
  async #idToken(request: TakenRequest, provider: OpenidProvider, proof: Proof): Promise<string> {
    if (proof.kind === 'id_token') return proof.idToken;
    const idToken = await this.#client.exchange(provider, proof);
    const { nonce, trust = 'publishable' } = proof;
    const got: Proof = { kind: 'id_token', idToken, nonce, trust };
    const seal = await this.#options.sealer.seal();
    await replaceProof(this.#options.sql, request.id, seal(JSON.stringify(got), proofPurpose(request.id)));
    return idToken;
  }
}

/** Those that are in the list so often or more. */
function oftenIn(ids: readonly string[], least: number): string[] {
  const counts = Map.groupBy(ids, (id) => id);
  return [...counts].filter(([, same]) => same.length >= least).map(([id]) => id);
}
