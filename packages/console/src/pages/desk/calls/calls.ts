import { AcceptingClick } from '@usher/call/accepting-click';
import { Call } from '@usher/call/call';
import { sentBy, type Kind, type Media } from '@usher/call/media';
import { reportCall } from '@usher/call/report-call';
import type { Signal } from '@usher/call/signal';
import type { Api } from '@usher/client/api';
import { blockReloadDuring } from '../../../components/unsaved-changes.ts';
import type { LiveFeed } from '../../../live/live-feed.ts';
import type { Conversations } from '../conversation/conversation.ts';
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
 * operator joins it with a click: on "Join", or on "Accept" for a request of the visitor. A change of the media changes the call.
 * After somebody hangs up, the conversation continues as a chat. Only one page of the browser can be in the call.
 */
export class Calls {
  readonly #api: Api;
  readonly #listeners = new Set<() => void>();
  /** The media that the operator accepted on this page, by engagement. */
  readonly #clicks = new Map<string, AcceptingClick>();
  #state: ById = new Map();
  #chats: Conversations['byId'] = new Map();

  constructor(api: Api, live: LiveFeed) {
    this.#api = api;
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

  /** Updates the calls from the conversations. It starts no device, unless the operator has just accepted the call. */
  follow({ byId }: Conversations): void {
    this.#chats = byId;
    for (const [id, chat] of byId) {
      const media = isOpen(chat) ? callMedia(chat) : null;
      const current = this.#state.get(id);
      // The accepted media are known once the conversation has been read.
      if (current === undefined && media !== null && chat.isRead) this.#prepare(id, media);
      else if (current !== undefined) this.#adapt(id, current.call, media);
      this.#useClick(id);
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

  /** The operator has just accepted a call with these media by a click. */
  accept(id: string, media: Media): void {
    const click = new AcceptingClick();
    this.#clicks.set(id, click);
    click.record(sentBy('operator', media));
    this.#useClick(id);
  }

  #useClick(id: string): void {
    const [click, current] = [this.#clicks.get(id), this.#state.get(id)];
    if (click === undefined || current === undefined) return;
    const { state, media } = current.call.view;
    if (state.name !== 'idle') void current.call.startDevices(click.consumeDevices(current.call.awaitsClick));
    else if (click.consumeJoin()) this.join(id, media, click.consumeDevices(sentBy('operator', media)));
  }

  closeAll(): void {
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
    void runExclusively(`usher-call ${id}`, async () => blockReloadDuring(async () => this.#run(call, kinds))).then(
      (hasRun) => {
        this.#clicks.delete(id);
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
