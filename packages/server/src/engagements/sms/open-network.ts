import type { LookupFunction } from 'node:net';
import { Agent, fetch } from 'undici';
import type { CarrierNetwork } from '../../carriers/carrier.ts';

/** Opens connections to a carrier. `lookup` resolves its name. */
export function openCarrierNetwork(lookup: LookupFunction): CarrierNetwork {
  const dispatcher = new Agent({ connect: { lookup, allowH2: false } });
  return {
    post: async (url, request) => fetch(url, { method: 'POST', redirect: 'manual', dispatcher, ...request }),
    close: async () => dispatcher.destroy(),
  };
}
