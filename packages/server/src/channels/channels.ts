import { schemeOf } from '@usher/contract/webhook-url';
import { bareHost } from '../platform/outbound/address-guard.ts';
import { apns } from './apns.ts';
import type { Channel } from './channel.ts';
import { http } from './http.ts';
import { nats } from './nats.ts';

export const channels: readonly Channel[] = [http, apns, nats];

/** Fields of a registration that only some channels have. */
export const channelFields = { ...http.fields, ...nats.fields };

/** The channel for the scheme of the URL; `null`: none of these channels has this scheme. */
export function findChannel(url: string, among: readonly Channel[] = channels): Channel | null {
  const scheme = schemeOf(url);
  return among.find(({ schemes }) => schemes.includes(scheme)) ?? null;
}

/** The channel of a valid URL. */
export function channelOf(url: string): Channel {
  const channel = findChannel(url);
  if (channel === null) throw new Error('no channel has the scheme of the stored URL');
  return channel;
}

/** The host that is connected to, for a URL or an origin; `null`: the host comes from the settings. */
export function hostOf(url: string): string | null {
  const address = findChannel(url)?.addressOf(url) ?? null;
  return address === null ? null : bareHost(address);
}
