import { schemeOf } from '@usher/contract/webhook-url';
import { bareHost } from '../../platform/address-guard.ts';
import { apns } from './apns.ts';
import type { Channel } from './channel.ts';
import { http } from './http.ts';
import { nats } from './nats.ts';

export const channels: readonly Channel[] = [http, apns, nats];

/** Fields of a registration that only some channels take. */
export const channelFields = { ...http.fields, ...nats.fields };

/** By the scheme of the URL; `null`: none of these channels has it. */
export function findChannel(url: string, among: readonly Channel[] = channels): Channel | null {
  const scheme = schemeOf(url);
  return among.find(({ schemes }) => schemes.includes(scheme)) ?? null;
}

/** Of a URL that has passed validation. */
export function channelOf(url: string): Channel {
  const channel = findChannel(url);
  if (channel === null) throw new Error('a URL that no channel has was stored');
  return channel;
}

/** The host that is connected to, of a URL or an origin; `null`: a service that the settings name. */
export function hostOf(url: string): string | null {
  const address = findChannel(url)?.addressOf(url) ?? null;
  return address === null ? null : bareHost(address);
}
