import { createHmac } from 'node:crypto';
import Type from 'typebox';
import type { Config } from '../../config.ts';
import { output } from '../../platform/schema.ts';

/**
 * For how long what we answer is good. A relay asks when somebody begins to use it, and lets those go on who have begun;
 * whoever begins anew asks us anew.
 */
const credentialSec = 3_600;

export const iceServersOutput = output('IceServers', {
  ice_servers: Type.Array(
    Type.Object({
      urls: Type.Array(Type.String()),
      username: Type.Optional(Type.String()),
      credential: Type.Optional(Type.String()),
    }),
    { description: 'As `RTCPeerConnection` takes them' },
  ),
  expires_in: Type.Integer({ description: 'Seconds for which they can be used to begin' }),
});
type IceServers = Type.Static<typeof iceServersOutput>;

/**
 * STUN is open to all. A relay (TURN) knows whom to serve by a secret it shares with us: the name says until when, and the
 * password is that name signed (draft-uberti-behave-turn-rest; coturn's `use-auth-secret`). `caller` is for its log.
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
