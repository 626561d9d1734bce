import fastify from 'fastify';

/** The peer of the authenticated read: Fastify with one route, which has nothing but its answer. */
export interface BareAnswer {
  readonly contentType: string;
  readonly body: string;
}

process.once('message', (answer) => void serve(answer as BareAnswer));
process.once('disconnect', () => process.exit());

async function serve({ contentType, body }: BareAnswer): Promise<void> {
  const app = fastify();
  app.get('/sites/:site_id', (_request, reply) => {
    void reply.type(contentType).send(body);
  });
  process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));
}
