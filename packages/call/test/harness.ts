import { Call, type CallOptions } from '../src/call.ts';
import { chooseSpeaker, listDevices } from '../src/devices.ts';
import { inWords } from '../src/problem.ts';
import type { Media, Side } from '../src/media.ts';
import type { Signal } from '../src/signal.ts';

/** A page with nothing on it but a call: what the desk and the widget do with one, for test/call/call.test.ts to drive. */

interface Joining {
  readonly token: string;
  readonly engagementId: string;
  readonly side: Side;
  readonly media: Media;
  readonly patience?: CallOptions['patience'];
}

class Harness {
  readonly listDevices = listDevices;
  call: Call | null = null;
  /** Names of the states there have been. */
  readonly states: string[] = [];
  /** Signals are lost on their way, in both directions. */
  isDeaf = false;
  sent = 0;
  readonly video = document.createElement('video');

  async join({ token, engagementId, side, media, patience }: Joining): Promise<void> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const send = async (signal: Signal, keepalive = false): Promise<void> => {
      if (this.isDeaf) return;
      this.sent += 1;
      const body = JSON.stringify(signal);
      const answer = await fetch(`/engagements/${engagementId}/signals`, { method: 'POST', headers, body, keepalive });
      if (!answer.ok) throw new Error(await answer.text());
    };
    const iceServers = async (): Promise<RTCIceServer[]> => {
      const answer = await fetch('/ice_servers', { headers });
      return ((await answer.json()) as { ice_servers: RTCIceServer[] }).ice_servers;
    };
    const call = new Call({ side, media, send, iceServers, ...(patience === undefined ? {} : { patience }) });
    call.subscribe(() => {
      const { name } = call.view.state;
      if (this.states.at(-1) !== name) this.states.push(name);
    });
    this.call = call;
    this.video.autoplay = true;
    this.video.srcObject = call.view.remote;
    document.body.append(this.video);
    await follow(headers, (type, data) => {
      if (type === 'engagement.signal' && !this.isDeaf) call.receive(data as Signal);
    });
    await call.start();
  }

  /** What the page would show, as plain data. */
  look() {
    if (this.call === null) return null;
    const { local, remote, problems, ...view } = this.call.view;
    const tracks = (stream: MediaStream): string[] => stream.getTracks().map(({ kind }) => kind);
    return { ...view, local: tracks(local), remote: tracks(remote), problems, words: problems.map(inWords) };
  }

  label(kind: string): string | undefined {
    return this.call?.view.local.getTracks().find((track) => track.kind === kind)?.label;
  }

  async speak(id: string): Promise<boolean> {
    return chooseSpeaker(this.video, id);
  }

  /** What has come in since the connection was made. */
  async measure() {
    const found = { energy: 0, audioBytes: 0, videoBytes: 0, frames: 0, ufrag: '' };
    const stats = (await this.call?.stats()) ?? new Map<string, never>();
    stats.forEach((each: Record<string, unknown>) => {
      if (each['type'] === 'transport') found.ufrag = String(each['iceLocalUsernameFragment']);
      if (each['type'] !== 'inbound-rtp') return;
      if (each['kind'] === 'audio') {
        found.energy += Number(each['totalAudioEnergy'] ?? 0);
        found.audioBytes += Number(each['bytesReceived']);
      } else {
        found.videoBytes += Number(each['bytesReceived']);
        found.frames += Number(each['framesDecoded'] ?? 0);
      }
    });
    return found;
  }
}

/** Reads the feed for as long as the page lasts; resolves once it is open. */
async function follow(headers: Record<string, string>, take: (type: string, data: unknown) => void): Promise<void> {
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
        if (data !== undefined) take(type, JSON.parse(data));
      }
    }
  };
  void read();
  return opened.promise;
}

Object.assign(window, { harness: new Harness() });
