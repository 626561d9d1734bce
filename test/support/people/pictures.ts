import { call } from '../server.ts';
import { expectStatus, type ServerHandle } from '../world.ts';

/** A PNG of one pixel, in base64. */
export const onePixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

/** Sets the picture of an operator. Returns its path. */
export async function setPicture(
  server: ServerHandle,
  { token }: { readonly token: string },
  operatorId: string,
): Promise<string> {
  const body = { content: onePixel };
  return expectStatus(await call(server, `PUT /operators/${operatorId}/picture`, { token, body }), 200).body
    .picture_url;
}
