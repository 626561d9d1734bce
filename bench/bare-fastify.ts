import fastify from 'fastify';

/** The peer for reads: Fastify with routes that only send a fixed response. */
export interface BareResponse {
  readonly contentType: string;
  readonly body: string;
}

process.once('message', (answer) => void serve(answer as BareResponse));
process.once('disconnect', () => process.exit());

async function serve({ contentType, body }: BareResponse): Promise<void> {
  const app = fastify();
  for (const route of ['/sites/:site_id', '/queues']) {
    app.get(route, (_request, reply) => {
      void reply.type(contentType).send(body);
    });
  }
  process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));
}
