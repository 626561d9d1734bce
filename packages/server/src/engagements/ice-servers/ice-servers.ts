import { createHmac } from 'node:crypto';
import Type from 'typebox';
import type { Config } from '../../config.ts';
import { output } from '../../platform/schema.ts';

/**
 * How long credentials are valid. A relay checks them only when a connection starts, so a call may last longer. A client that
 * starts a new connection requests new credentials.
 */
const credentialSec = 3_600;

export const iceServersOutput = output('IceServers', {
  ice_servers: Type.Array(
    Type.Object({
      urls: Type.Array(Type.String()),
      username: Type.Optional(Type.String()),
      credential: Type.Optional(Type.String()),
    }),
    { description: 'In the form that `RTCPeerConnection` takes' },
  ),
  expires_in: Type.Integer({ description: 'Seconds during which a connection can be started with them' }),
});
type IceServers = Type.Static<typeof iceServersOutput>;

/**
 * STUN needs no credentials. A relay (TURN) shares a secret with us: the username contains the expiry, and the password is the
 * username signed with the secret (draft-uberti-behave-turn-rest; coturn's `use-auth-secret`). `caller` appears in the relay's log.
 */
export function iceServersFor(caller: string, { urls, turnSecret }: Config['ice'], now: Date): IceServers {
  const stun = urls.filter((url) => url.startsWith('stun'));
  const turn = urls.filter((url) => url.startsWith('turn'));
  const servers: IceServers['ice_servers'] = stun.length === 0 ? [] : [{ urls: stun }];
  if (turn.length > 0) {
    const username = `${Math.floor(now.getTime() / 1_000) + credentialSec}:${caller}`;
    const credential = createHmac('sha1', turnSecret).update(username).digest('base64');
    servers.push({ urls: turn, username, credential });
  }
  return { ice_servers: servers, expires_in: credentialSec };
}
