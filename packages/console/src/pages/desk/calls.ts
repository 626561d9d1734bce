import { Call } from '@usher/call/call';
import type { Signal } from '@usher/call/signal';
import type { Api } from '@usher/client/api';
import { whilePageIsHeld } from '../../components/leaving.ts';
import type { Live } from '../../live/live.ts';
import type { Conversations } from './conversation.ts';
import { callMedia } from './reading.ts';

/** A call of a conversation, over or not. */
export interface DeskCall {
  readonly call: Call;
  /** Plays the other side, whichever page is open. */
  readonly speaker: HTMLAudioElement;
  /** Another page of this browser has the call. */
  readonly isElsewhere: boolean;
  /** It is over here, and the visitor would like another. */
  readonly isWanted: boolean;
}

type ById = ReadonlyMap<string, DeskCall>;

/**
 * Calls go on behind whatever is open. One begins when its conversation becomes one by audio or video, is carried over into
 * another medium, and ends with it; one that somebody has hung up begins again by a click. Of several pages, one has it.
 */
export class Calls {
  readonly #api: Api;
  readonly #listeners = new Set<() => void>();
  #state: ById = new Map();

  constructor(api: Api, live: Live) {
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

  /** Makes calls what the conversations say. */
  follow({ byId }: Conversations): void {
    for (const [id, chat] of byId) {
      const media = chat.isOpen ? callMedia(chat) : null;
      const known = this.#state.get(id);
      // What was agreed on is known once it has been read.
      if (known === undefined && media !== null && chat.isRead) this.begin(id, media);
      if (known === undefined || known.call.view.state.name === 'ended') continue;
      if (media === null) known.call.close();
      else if (JSON.stringify(media) !== JSON.stringify(known.call.view.media)) void known.call.change(media);
    }
  }

  closeAll(): void {
    for (const { call, speaker } of this.#state.values()) {
      call.close();
      speaker.srcObject = null;
    }
  }

  begin(id: string, media: Call['view']['media']): void {
    const path = { engagement_id: id };
    const call = new Call({
      side: 'operator',
      media,
      send: async ({ call_id, kind, data }) =>
        this.#api.call('POST /engagements/{engagement_id}/signals', { path, body: { call_id, kind, data } }),
      iceServers: async () =>
        (await this.#api.call('GET /ice_servers', {})).ice_servers.map(({ urls, ...rest }) => ({
          urls: [...urls],
          ...rest,
        })),
    });
    const speaker = new Audio();
    speaker.autoplay = true;
    speaker.srcObject = call.view.remote;
    this.#put(id, { call, speaker, isElsewhere: false, isWanted: false });
    void alone(`usher-call ${id}`, async () => whilePageIsHeld(async () => this.#run(call))).then((isAlone) => {
      if (!isAlone) this.#put(id, { call, speaker, isElsewhere: true, isWanted: false });
    });
  }

  /** Resolves when it is over: so long no other page may have it. */
  async #run(call: Call): Promise<void> {
    await call.start();
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (call.view.state.name === 'ended') resolve();
      };
      call.subscribe(look);
      look();
    });
  }

  #receive({ engagement_id: id, ...signal }: Signal & { engagement_id: string }): void {
    const known = this.#state.get(id);
    if (known === undefined) return;
    known.call.receive(signal);
    const isOver = known.call.view.state.name === 'ended';
    if (isOver && signal.kind === 'ready' && !known.isWanted) this.#put(id, { ...known, isWanted: true });
    if (isOver && signal.kind === 'hangup' && known.isWanted) this.#put(id, { ...known, isWanted: false });
  }

  #put(id: string, call: DeskCall): void {
    this.#state = new Map(this.#state).set(id, call);
    for (const listener of this.#listeners) listener();
  }
}

/** Runs it unless another page does already, by the browser's locks; pages without them are taken to be alone. */
async function alone(name: string, run: () => Promise<void>): Promise<boolean> {
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
