import type { FastifyRequest } from 'fastify';
import type { AddressHasher } from '../platform/limits/address-hasher.ts';
import { isFromPage } from './caller.ts';

/** The hash of the caller's address; `null` if limits per address do not apply to the caller. */
export type AddressOf = (request: FastifyRequest) => string | null;

export function addressOfCallers(hasher: AddressHasher): AddressOf {
  return ({ caller, ip }) => (isFromPage(caller) ? hasher.hash(ip) : null);
}
