import { AcceptingClick } from '@usher/call/accepting-click';
import { Call } from '@usher/call/call';
import type { CallView } from '@usher/call/call-view';
import { sentBy, type Kind, type Media } from '@usher/call/media';
import { reportCall } from '@usher/call/report-call';
import type { Signal } from '@usher/call/signal';
import type { Api } from '@usher/client/api';
import { isSame } from './call-media.ts';
import { newId } from '@usher/client/new-id';
import { engagementOf, type State } from './state.ts';
import type { Storage } from './storage.ts';
import { Store } from './store.ts';

export interface CallState {
  /** What there could be a call with; `null`: the engagement is a chat. */
  readonly media: Media | null;
  /** The call of this tab, ended ones too; `null`: nobody has joined here. */
  readonly view: CallView | null;
}

interface Parts {
  readonly api: Api;
  readonly storage: Storage;
  readonly store: Store<State>;
}

const isText = (value: unknown): value is string => typeof value === 'string';

/**
 * The calls of this tab. One begins by the visitor's own click at that moment, on the button to join or to accept an invitation. To
 * have asked for a call is not enough: who comes to it late would be seen and heard unawares. Of several tabs the one that joined
 * last has the call.
 */
export class Calls {
  readonly state = new Store<CallState>({ media: null, view: null });
  /** What plays the other side. */
  speaker: HTMLAudioElement | null = null;
  readonly #parts: Parts;
  readonly #tab = newId();
  #call: Call | null = null;
  #engagementId: string | null = null;
  readonly #click = new AcceptingClick();

  constructor(parts: Parts) {
    this.#parts = parts;
    parts.store.subscribe(() => this.#look());
    parts.storage.watch((name) => {
      if (name === 'call' && parts.storage.get('call', isText) !== this.#tab) this.#call?.close();
    });
  }

  /** The visitor has accepted a call with these media by a click, just now. */
  accept(media: Media): void {
    this.#click.record(sentBy('visitor', media));
    this.#look();
  }

  /** To be called by a click, for these devices; for all that are sent, unless it is said. */
  join(kinds?: readonly Kind[]): void {
    const { media } = this.state.value;
    const engagementId = this.#engagementId;
    if (media === null || engagementId === null || this.#isOn) return;
    const { api, storage } = this.#parts;
    const path = { engagement_id: engagementId };
    const call = new Call({
      side: 'visitor',
      media,
      send: async (signal, keepalive) =>
        api.call('POST /engagements/{engagement_id}/signals', {
          path,
          body: { ...signal },
          ...(keepalive === true && { keepalive }),
        }),
      iceServers: async () =>
        // A list of ours, for those who may change it.
        (await api.call('GET /ice_servers', {})).ice_servers.map(({ urls, ...rest }) => ({ ...rest, urls: [...urls] })),
    });
    this.#call = call;
    storage.set('call', this.#tab);
    call.subscribe(() => {
      if (this.#call !== call) return;
      if (call.view.state.name === 'ended') this.#click.clear();
      this.state.set({ view: call.view });
    });
    reportCall(call, {
      callId: () => this.#callId,
      send: async (callId, action) => this.#report(engagementId, callId, action),
    });
    this.state.set({ view: call.view });
    void call.start(kinds);
  }

  /** Ends the call without joining it: the conversation goes on as a chat. */
  decline(): void {
    const [engagementId, callId] = [this.#engagementId, this.#callId];
    if (engagementId !== null && callId !== null) void this.#report(engagementId, callId, 'end').catch(() => undefined);
  }

  async #report(engagementId: string, callId: string, action: 'connect' | 'end'): Promise<void> {
    const path = { engagement_id: engagementId, call_id: callId };
    await this.#parts.api.call('PATCH /engagements/{engagement_id}/calls/{call_id}', { path, body: { action } });
  }

  /** The call that goes on, as the server keeps it. */
  get #callId(): string | null {
    return engagementOf(this.#parts.store.value.stage)?.calls.findLast(({ ended_at }) => ended_at === null)?.id ?? null;
  }

  get call(): Call | null {
    return this.#call;
  }

  receive(signal: unknown): void {
    const { engagement_id: id } = signal as { engagement_id: string };
    if (id === this.#engagementId) this.#call?.receive(signal as Signal);
  }

  /** The feed was opened again: signals may have been missed. */
  resync(): void {
    this.#call?.resync();
  }

  get #isOn(): boolean {
    return this.#call !== null && this.#call.view.state.name !== 'ended';
  }

  #look(): void {
    const { stage } = this.#parts.store.value;
    const media = stage.name === 'engaged' ? stage.callMedia : null;
    if (stage.name === 'idle' || stage.name === 'ended') this.#click.clear();
    const engagementId = engagementOf(stage)?.id ?? null;
    if (engagementId !== this.#engagementId || media === null) this.#letGo();
    this.#engagementId = engagementId;
    if (!isSame(media, this.state.value.media)) {
      this.state.set({ media });
      if (media !== null && this.#isOn) this.#call?.change(media);
    }
    if (media === null) return;
    if (this.#isOn) void this.#call?.startDevices(this.#click.consumeDevices(this.#call.awaitsClick));
    else if (this.#click.consumeJoin()) this.join(this.#click.consumeDevices(sentBy('visitor', media)));
  }

  #letGo(): void {
    if (this.#call === null) return;
    const call = this.#call;
    this.#call = null;
    call.close();
    this.state.set({ view: null });
  }
}
