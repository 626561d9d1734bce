import type { Api } from '@usher/client/api';

/** The typing indicator is renewed after this time, and withdrawn after this time without a key. */
const againMs = 3_000;
const idleMs = 5_000;

interface Stroke {
  readonly saidAt: number;
  readonly idle: ReturnType<typeof setTimeout>;
}

/** Sends the typing indicator, throttled. Nothing waits for it, and it may fail. */
export class Typing {
  readonly #api: Api;
  readonly #strokes = new Map<string, Stroke>();

  constructor(api: Api) {
    this.#api = api;
  }

  stroke(id: string): void {
    const before = this.#strokes.get(id);
    clearTimeout(before?.idle);
    const isNews = before === undefined || Date.now() - before.saidAt >= againMs;
    const saidAt = isNews ? Date.now() : before.saidAt;
    this.#strokes.set(id, { saidAt, idle: setTimeout(() => this.stop(id), idleMs) });
    if (isNews) this.#say(id, true);
  }

  stop(id: string): void {
    const before = this.#strokes.get(id);
    if (before === undefined) return;
    clearTimeout(before.idle);
    this.#strokes.delete(id);
    this.#say(id, false);
  }

  #say(id: string, typing: boolean): void {
    const request = { path: { engagement_id: id }, body: { typing } };
    this.#api.call('PUT /engagements/{engagement_id}/typing_indicator', request).catch(() => undefined);
  }
}
