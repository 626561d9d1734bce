import type { Config } from '../../config.ts';
import type { App } from '../../platform/http/http.ts';
import { partyOf } from '../../identity/party.ts';
import { iceServersFor, iceServersOutput } from './ice-servers.ts';

export function iceServerRoutes(app: App, ice: Config['ice']): void {
  app.get(
    '/ice_servers',
    {
      config: { access: { operator: 'operator', visitor: true, site: 'none' } },
      schema: {
        tags: ['Calls'],
        summary: 'STUN and TURN servers for calls, with credentials',
        description: 'Pass them to RTCPeerConnection. Credentials may expire, so read them before each call.',
        response: { 200: iceServersOutput },
      },
    },
    async (request, reply) => {
      const { kind, id } = partyOf(request.caller);
      reply.header('cache-control', 'no-store');
      return iceServersFor(`${kind}-${id}`, ice, new Date());
    },
  );
}
