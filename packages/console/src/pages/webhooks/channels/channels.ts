import type { Webhook } from '@usher/sdk/api-types';
import { schemeOf } from '@usher/contract/webhook-url';
import { apns, type PushDraft } from './apns.ts';
import type { Channel } from './channel.ts';
import { http, type HttpDraft } from './http.ts';
import { nats, type NatsDraft } from './nats.ts';

/** The drafts of all channels. */
export type ChannelDrafts = HttpDraft & PushDraft & NatsDraft;

export const channels: readonly Channel<ChannelDrafts>[] = [http, apns, nats];

export const emptyDrafts: ChannelDrafts = { ...http.empty, ...apns.empty, ...nats.empty };
export const draftViews = { ...http.views, ...apns.views, ...nats.views };

export function channelOf({ url }: Pick<Webhook, 'url'>): Channel<ChannelDrafts> {
  return channels.find(({ schemes }) => schemes.includes(schemeOf(url))) ?? http;
}

export function channelNamed(kind: string): Channel<ChannelDrafts> {
  return channels.find((channel) => channel.kind === kind) ?? http;
}
