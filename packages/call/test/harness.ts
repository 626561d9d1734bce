import { Call, type CallOptions } from '../src/call.ts';
import { chooseSpeaker, listDevices } from '../src/devices.ts';
import type { Media, Side } from '../src/media.ts';
import type { Signal } from '../src/signal.ts';
import { describeDeviceProblem } from '../src/texts.ts';

/** A page with nothing but a call. It does what the desk and the widget do; test/call/call.test.ts controls it. */

interface JoinOptions {
  readonly token: string;
  readonly engagementId: string;
  readonly side: Side;
  readonly media: Media;
  readonly timeouts?: CallOptions['timeouts'];
}

class Harness {
  readonly listDevices = listDevices;
  call: Call | null = null;
  /** The names of all states so far. */
  readonly states: string[] = [];
  /** Drops all signals, in both directions. */
  losesSignals = false;
  sent = 0;
  readonly video = document.createElement('video');

  async join({ token, engagementId, side, media, timeouts }: JoinOptions): Promise<void> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const send = async (signal: Signal, keepalive = false): Promise<void> => {
      if (this.losesSignals) return;
      this.sent += 1;
      const body = JSON.stringify(signal);
      const answer = await fetch(`/engagements/${engagementId}/signals`, { method: 'POST', headers, body, keepalive });
      if (!answer.ok) throw new Error(await answer.text());
    };
    const iceServers = async (): Promise<RTCIceServer[]> => {
      const answer = await fetch('/ice_servers', { headers });
      return ((await answer.json()) as { ice_servers: RTCIceServer[] }).ice_servers;
    };
    const call = new Call({ side, media, send, iceServers, ...(timeouts === undefined ? {} : { timeouts }) });
    call.subscribe(() => {
      const { name } = call.view.state;
      if (this.states.at(-1) !== name) this.states.push(name);
    });
    this.call = call;
    this.video.autoplay = true;
    this.video.srcObject = call.view.remote;
    document.body.append(this.video);
    await readFeed(headers, (type, data) => {
      if (type === 'engagement.signal' && !this.losesSignals) call.receive(data as Signal);
    });
    await call.start();
  }

  /** The view as plain data. */
  snapshot() {
    if (this.call === null) return null;
    const { local, remote, problems, ...view } = this.call.view;
    const tracks = (stream: MediaStream): string[] => stream.getTracks().map(({ kind }) => kind);
    return {
      ...view,
      local: tracks(local),
      remote: tracks(remote),
      problems,
      problemTexts: problems.map((problem) => describeDeviceProblem(problem)),
    };
  }

  label(kind: string): string | undefined {
    return this.call?.view.local.getTracks().find((track) => track.kind === kind)?.label;
  }

  async chooseSpeaker(id: string): Promise<boolean> {
    return chooseSpeaker(this.video, id);
  }

  /** What this side has received since the connection was made. */
  async measure() {
    const received = { energy: 0, audioBytes: 0, videoBytes: 0, frames: 0, ufrag: '' };
    const stats = (await this.call?.stats()) ?? new Map<string, never>();
    stats.forEach((each: Record<string, unknown>) => {
      if (each['type'] === 'transport') received.ufrag = String(each['iceLocalUsernameFragment']);
      if (each['type'] !== 'inbound-rtp') return;
      if (each['kind'] === 'audio') {
        received.energy += Number(each['totalAudioEnergy'] ?? 0);
        received.audioBytes += Number(each['bytesReceived']);
      } else {
        received.videoBytes += Number(each['bytesReceived']);
        received.frames += Number(each['framesDecoded'] ?? 0);
      }
    });
    return received;
  }
}

/** Reads the feed until the page is closed. Resolves when the feed is open. */
async function readFeed(headers: Record<string, string>, onItem: (type: string, data: unknown) => void): Promise<void> {
  const response = await fetch('/feed', { headers });
  if (response.body === null) throw new Error('no feed');
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const opened = Promise.withResolvers<void>();
  const read = async (): Promise<void> => {
    let text = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const blocks = (text + part.value).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const type = /^event: (.*)$/m.exec(block)?.[1] ?? '';
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (type === 'feed.open') opened.resolve();
        if (data !== undefined) onItem(type, JSON.parse(data));
      }
    }
  };
  void read();
  return opened.promise;
}

Object.assign(window, { harness: new Harness() });
