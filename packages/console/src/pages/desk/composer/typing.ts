import type { Api } from '@usher/client/api';

/** The typing indicator is renewed after this time, and withdrawn after this time without a key. */
const renewMs = 3_000;
const idleMs = 5_000;

interface TypingState {
  readonly sentAt: number;
  readonly idle: ReturnType<typeof setTimeout>;
}

/** Sends the typing indicator, throttled. Nothing waits for it, and it may fail. */
export class Typing {
  readonly #api: Api;
  readonly #active = new Map<string, TypingState>();

  constructor(api: Api) {
    this.#api = api;
  }

  keyPressed(id: string): void {
    const before = this.#active.get(id);
    clearTimeout(before?.idle);
    const isDue = before === undefined || Date.now() - before.sentAt >= renewMs;
    const sentAt = isDue ? Date.now() : before.sentAt;
    this.#active.set(id, { sentAt, idle: setTimeout(() => this.stop(id), idleMs) });
    if (isDue) this.#send(id, true);
  }

  stop(id: string): void {
    const before = this.#active.get(id);
    if (before === undefined) return;
    clearTimeout(before.idle);
    this.#active.delete(id);
    this.#send(id, false);
  }

  #send(id: string, typing: boolean): void {
    const request = { path: { engagement_id: id }, body: { typing } };
    this.#api.call('PUT /engagements/{engagement_id}/typing_indicator', request).catch(() => undefined);
  }
}
