import { Call } from '@usher/call/call';
import { sentBy, type Kind, type Media } from '@usher/call/media';
import { reportCall } from '@usher/call/report-call';
import type { Signal } from '@usher/call/signal';
import type { Api } from '@usher/client/api';
import { blockReloadDuring } from '../../../components/editing/unsaved-changes.ts';
import { callConsents } from '../../../live/call-consents.ts';
import type { LiveFeed } from '../../../live/live-feed.ts';
import type { Conversation, Conversations } from '../conversation/conversation.ts';
import { callMedia, isOpen, openCallId } from '../conversation/selectors.ts';

/** The call of a conversation: to be joined, in progress, or ended. */
export interface DeskCall {
  /** Idle until the operator joins. */
  readonly call: Call;
  /** Plays the audio of the other side on every page. */
  readonly speaker: HTMLAudioElement;
  readonly presence: Presence;
}

/**
 * Who is in the call:
 *
 *   nobody     neither side, as far as this page knows
 *   visitor    the visitor only
 *   here       the operator, on this page, until the call ends
 *   elsewhere  the operator, on another page of this browser
 *
 *              visitor is ready  visitor hangs up  join  the call ends  another page has it
 *   nobody     visitor           –                 here  –              –
 *   visitor    –                 nobody            here  –              –
 *   here       –                 –                 –     nobody         elsewhere
 *   elsewhere  –                 –                 here  –              –
 */
type Presence = 'nobody' | 'visitor' | 'here' | 'elsewhere';

type ById = ReadonlyMap<string, DeskCall>;

/**
 * The calls of the desk, which continue while another page is open. A conversation whose media are audio or video has a call. The
 * operator joins it with a click: on "Join", on "Accept" for an offer or a request of the visitor, or on the invitation that the
 * visitor then accepts. A change of the media changes the call. After somebody hangs up, the conversation continues as a chat. Only
 * one page of the browser can be in the call.
 */
export class Calls {
  readonly #api: Api;
  readonly #listeners = new Set<() => void>();
  readonly #unsubscribe: () => void;
  #state: ById = new Map();
  #chats: Conversations['byId'] = new Map();

  constructor(api: Api, live: LiveFeed) {
    this.#api = api;
    this.#unsubscribe = callConsents.subscribe((id) => this.#useConsent(id));
    live.on(['engagement.signal'], ({ data }) => this.#receive(data as Signal & { engagement_id: string }));
    live.on(['feed.open'], () => {
      for (const { call } of this.#state.values()) call.resync();
    });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): ById => this.#state;

  /** Updates the calls from the conversations. It starts no device, unless the operator has agreed to the call on this page. */
  follow({ byId }: Conversations): void {
    this.#chats = byId;
    for (const [id, chat] of byId) {
      const media = isOpen(chat) ? callMedia(chat) : null;
      const current = this.#state.get(id);
      // The accepted media are known once the conversation has been read.
      if (current === undefined && media !== null && chat.isRead) this.#prepare(id, media);
      else if (current !== undefined) this.#adapt(id, current.call, media);
      if (isRefused(chat)) callConsents.clear(id);
      this.#useConsent(id);
    }
  }

  #adapt(id: string, call: Call, media: Media | null): void {
    const { name } = call.view.state;
    if (media === null) {
      call.close();
      this.#remove(id);
    } else if (name === 'ended') return;
    else if (JSON.stringify(media) !== JSON.stringify(call.view.media)) call.change(media);
  }

  #useConsent(id: string): void {
    const current = this.#state.get(id);
    if (current === undefined) return;
    const { state, media } = current.call.view;
    if (state.name !== 'idle')
      void current.call.startDevices(callConsents.consumeDevices(id, current.call.awaitsClick));
    else if (callConsents.consumeJoin(id))
      this.join(id, media, callConsents.consumeDevices(id, sentBy('operator', media)));
  }

  /** Hangs up the calls of this browser, before the operator signs out. Resolves when the visitors have been notified. */
  async hangUpAll(): Promise<void> {
    const ids = await idsInCall();
    await Promise.all([...this.#state.keys()].filter((id) => ids.has(id)).map(async (id) => this.decline(id)));
  }

  closeAll(): void {
    this.#unsubscribe();
    for (const { call, speaker } of this.#state.values()) {
      call.close();
      speaker.srcObject = null;
    }
  }

  /** Must be called by a click. Starts these devices, or all devices of the call. */
  join(id: string, media: Media, kinds?: readonly Kind[]): void {
    const current = this.#state.get(id);
    if (current?.presence === 'here') return;
    const isNew = current === undefined || current.call.view.state.name === 'ended';
    const { call, speaker } = isNew ? this.#prepare(id, media) : current;
    this.#put(id, { call, speaker, presence: 'here' });
    void runExclusively(lockPrefix + id, async () => blockReloadDuring(async () => this.#run(call, kinds))).then(
      (hasRun) => {
        callConsents.clear(id);
        // Meanwhile the conversation may have become a chat, or another call.
        if (this.#state.get(id)?.call === call)
          this.#put(id, { call, speaker, presence: hasRun ? 'nobody' : 'elsewhere' });
      },
    );
  }

  /** Ends the call without joining it: the conversation continues as a chat. */
  async decline(id: string): Promise<void> {
    const callId = this.#callId(id);
    if (callId !== null) await this.#report(id, callId, 'end');
  }

  #callId(id: string): string | null {
    const chat = this.#chats.get(id);
    return chat === undefined ? null : openCallId(chat);
  }

  async #report(id: string, callId: string, action: 'connect' | 'end'): Promise<void> {
    const path = { engagement_id: id, call_id: callId };
    await this.#api.call('PATCH /engagements/{engagement_id}/calls/{call_id}', { path, body: { action } });
  }

  #prepare(id: string, media: Media): DeskCall {
    const path = { engagement_id: id };
    const call = new Call({
      side: 'operator',
      media,
      send: async ({ call_id, kind, data }, keepalive) =>
        this.#api.call('POST /engagements/{engagement_id}/signals', {
          path,
          body: { call_id, kind, data },
          ...(keepalive === true ? { keepalive } : {}),
        }),
      iceServers: async () =>
        (await this.#api.call('GET /ice_servers', {})).ice_servers.map(({ urls, ...rest }) => ({
          urls: [...urls],
          ...rest,
        })),
    });
    reportCall(call, {
      callId: () => this.#callId(id),
      send: async (callId, action) => this.#report(id, callId, action),
    });
    const speaker = new Audio();
    speaker.autoplay = true;
    speaker.srcObject = call.view.remote;
    const prepared: DeskCall = { call, speaker, presence: 'nobody' };
    this.#put(id, prepared);
    return prepared;
  }

  /** Resolves when the call has ended: until then no other page may have it. */
  async #run(call: Call, kinds?: readonly Kind[]): Promise<void> {
    await call.start(kinds);
    await new Promise<void>((resolve) => {
      const check = (): void => {
        if (call.view.state.name === 'ended') resolve();
      };
      call.subscribe(check);
      check();
    });
  }

  #receive({ engagement_id: id, ...signal }: Signal & { engagement_id: string }): void {
    const current = this.#state.get(id);
    if (current === undefined) return;
    current.call.receive(signal);
    const { presence } = current;
    if (presence === 'nobody' && signal.kind === 'ready') this.#put(id, { ...current, presence: 'visitor' });
    if (presence === 'visitor' && signal.kind === 'hangup') this.#put(id, { ...current, presence: 'nobody' });
  }

  #put(id: string, call: DeskCall): void {
    this.#setState(new Map(this.#state).set(id, call));
  }

  #remove(id: string): void {
    this.#setState(new Map([...this.#state].filter(([each]) => each !== id)));
  }

  #setState(state: ById): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

/** The operator's invitation was declined or canceled, or the conversation is no longer theirs. */
function isRefused(chat: Conversation): boolean {
  const invitationId = callConsents.invitationOf(chat.id);
  if (invitationId === null) return false;
  const state = chat.upgrades.find(({ id }) => id === invitationId)?.state;
  return state === 'declined' || state === 'canceled' || !isOpen(chat);
}

const lockPrefix = 'usher-call ';

/** The engagements whose call some page of this browser is in. */
async function idsInCall(): Promise<ReadonlySet<string>> {
  const locks = navigator.locks as LockManager | undefined;
  const held = (await locks?.query())?.held ?? [];
  return new Set(held.map(({ name }) => (name ?? '').replace(lockPrefix, '')));
}

/**
 * Runs `run` unless another page runs it already, by the Web Locks API. A page without that API is assumed to be the only one.
 */
async function runExclusively(name: string, run: () => Promise<void>): Promise<boolean> {
  const locks = navigator.locks as LockManager | undefined;
  if (locks === undefined) {
    await run();
    return true;
  }
  return locks.request(name, { ifAvailable: true }, async (lock) => {
    if (lock !== null) await run();
    return lock !== null;
  });
}
