import type { ActiveItem, Scope, World } from './world.ts';

/** The person in whose name an action is carried out. */
export type Actor =
  { readonly kind: 'operator'; readonly id: string } | { readonly kind: 'visitor'; readonly id: string };

export interface ApiRequest {
  readonly as: Actor;
  readonly method: 'POST' | 'PUT' | 'PATCH';
  readonly path: string;
  readonly body: object;
}

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** One account's sample data, and the server's interface for its simulated people. They act through the public API only. */
export interface Host {
  readonly siteId: string;
  /** In the order of `players`. */
  readonly operatorIds: readonly string[];
  readonly seed: number;
  /** The prefix of `external_id` of simulated visitors. It keeps simulations from acting for real visitors. */
  readonly visitorMark: string;
  /** Sends a request to the public API. `null`: the actor can no longer sign in. */
  send(request: ApiRequest): Promise<Answer | null>;
  readWorld(): Promise<World>;
  readActive(scope: Scope): Promise<ActiveItem[]>;
}
