import type { FastifyRequest } from 'fastify';
import type { AddressHasher } from '../platform/address-hasher.ts';
import { isFromPage } from './caller.ts';

/** The hash of a caller's address where limits per address hold for the caller; `null`: they do not. */
export type AddressOf = (request: FastifyRequest) => string | null;

export function addressOfCallers(hasher: AddressHasher): AddressOf {
  return ({ caller, ip }) => (isFromPage(caller) ? hasher.hash(ip) : null);
}
