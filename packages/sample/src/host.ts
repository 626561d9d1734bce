import type { Extent, UnderWay, World } from './world.ts';

/** In whose name something is done. */
export type Actor =
  { readonly kind: 'operator'; readonly id: string } | { readonly kind: 'visitor'; readonly id: string };

export interface Ask {
  readonly as: Actor;
  readonly method: 'POST' | 'PUT' | 'PATCH';
  readonly path: string;
  readonly body: object;
}

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** One account's sample, and all that its made-up people need of the server. They act through the public API alone. */
export interface Host {
  readonly siteId: string;
  /** In the order of `players`. */
  readonly operatorIds: readonly string[];
  readonly seed: number;
  /** What the `external_id` of our visitors begins with, so that nobody speaks for a real visitor. */
  readonly visitorMark: string;
  /** Sends a request to the public API. `null`: nobody can act in that name any more. */
  ask(request: Ask): Promise<Answer | null>;
  readWorld(): Promise<World>;
  readUnderWay(extent: Extent): Promise<UnderWay[]>;
}
