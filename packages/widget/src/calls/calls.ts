import { Call } from '@usher/call/call';
import { CallConsent, type Consent } from '@usher/call/call-consent';
import type { CallView } from '@usher/call/call-view';
import { sentBy, type Kind, type Media } from '@usher/call/media';
import { reportCall } from '@usher/call/report-call';
import type { Signal } from '@usher/call/signal';
import type { Api } from '@usher/client/api';
import { isSame } from './call-media.ts';
import { newId } from '@usher/sdk/new-id';
import { engagementOf, type State } from '../state.ts';
import type { Storage } from '../storage.ts';
import { Store } from '../store.ts';

export interface CallState {
  /** The media of the engagement's call; `null`: the engagement is a chat. */
  readonly media: Media | null;
  /** The call of this tab, which may have ended; `null`: the visitor has not joined in this tab. */
  readonly view: CallView | null;
}

interface CallsOptions {
  readonly api: Api;
  readonly storage: Storage;
  readonly store: Store<State>;
}

const isText = (value: unknown): value is string => typeof value === 'string';

/**
 * The calls of this tab. A call starts only with a click of the visitor: on Join, on Accept in an invitation, or on a request for a
 * call, which starts when the operator accepts it. If that is late, the visitor joins without microphone and camera, because they
 * might send audio or video without noticing. Of several tabs, the one that joined last has the call.
 */
export class Calls {
  readonly state = new Store<CallState>({ media: null, view: null });
  /** The element that plays the other side. */
  speaker: HTMLAudioElement | null = null;
  readonly #options: CallsOptions;
  readonly #tab = newId();
  #call: Call | null = null;
  #engagementId: string | null = null;
  readonly #consent = new CallConsent();

  constructor(options: CallsOptions) {
    this.#options = options;
    options.store.subscribe(() => this.#sync());
    options.storage.watch((name) => {
      if (name === 'call' && options.storage.get('call', isText) !== this.#tab) this.#call?.close();
    });
  }

  /** Call this from the click with which the visitor accepts or requests a call with these media. */
  agree(how: Consent, media: Media): void {
    this.#consent.record(how, sentBy('visitor', media));
    this.#sync();
  }

  /** The requested call was declined or canceled. */
  withdraw(): void {
    this.#consent.clear();
  }

  /** Call this from a click. `kinds`: the devices that the click may start; by default all that the visitor sends. */
  join(kinds?: readonly Kind[]): void {
    const { media } = this.state.value;
    const engagementId = this.#engagementId;
    if (media === null || engagementId === null || this.#isInCall) return;
    const { api, storage } = this.#options;
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
        // `RTCIceServer` wants mutable lists.
        (await api.call('GET /ice_servers', {})).ice_servers.map(({ urls, ...rest }) => ({ ...rest, urls: [...urls] })),
    });
    this.#call = call;
    storage.set('call', this.#tab);
    call.subscribe(() => {
      if (this.#call !== call) return;
      if (call.view.state.name === 'ended') this.#consent.clear();
      this.state.set({ view: call.view });
    });
    reportCall(call, {
      callId: () => this.#callId,
      send: async (callId, action) => this.#report(engagementId, callId, action),
    });
    this.state.set({ view: call.view });
    void call.start(kinds);
  }

  /** Ends the call without joining it. The conversation continues as a chat. */
  decline(): void {
    const [engagementId, callId] = [this.#engagementId, this.#callId];
    if (engagementId !== null && callId !== null) void this.#report(engagementId, callId, 'end').catch(() => undefined);
  }

  async #report(engagementId: string, callId: string, action: 'connect' | 'end'): Promise<void> {
    const path = { engagement_id: engagementId, call_id: callId };
    await this.#options.api.call('PATCH /engagements/{engagement_id}/calls/{call_id}', { path, body: { action } });
  }

  /** The id of the current call on the server. */
  get #callId(): string | null {
    return (
      engagementOf(this.#options.store.value.stage)?.calls.findLast(({ ended_at }) => ended_at === null)?.id ?? null
    );
  }

  get call(): Call | null {
    return this.#call;
  }

  receive(signal: unknown): void {
    const { engagement_id: id } = signal as { engagement_id: string };
    if (id === this.#engagementId) this.#call?.receive(signal as Signal);
  }

  /** The feed was reopened, so signals may have been lost. */
  resync(): void {
    this.#call?.resync();
  }

  get #isInCall(): boolean {
    return this.#call !== null && this.#call.view.state.name !== 'ended';
  }

  /** Follows the state of the conversation. */
  #sync(): void {
    const { stage } = this.#options.store.value;
    const media = stage.name === 'engaged' ? stage.callMedia : null;
    if (stage.name === 'idle' || stage.name === 'ended') this.#consent.clear();
    const engagementId = engagementOf(stage)?.id ?? null;
    if (engagementId !== this.#engagementId || media === null) this.#close();
    this.#engagementId = engagementId;
    if (!isSame(media, this.state.value.media)) {
      this.state.set({ media });
      if (media !== null && this.#isInCall) this.#call?.change(media);
    }
    if (media === null) return;
    if (this.#isInCall) void this.#call?.startDevices(this.#consent.consumeDevices(this.#call.awaitsClick));
    else if (this.#consent.consumeJoin()) this.join(this.#consent.consumeDevices(sentBy('visitor', media)));
  }

  #close(): void {
    if (this.#call === null) return;
    const call = this.#call;
    this.#call = null;
    call.close();
    this.state.set({ view: null });
  }
}
