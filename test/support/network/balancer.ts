import { createServer, request as forward, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A load balancer as operators put it before several processes: it takes a process out before that is stopped. */
export interface Balancer {
  readonly url: string;
  /** The URLs of the processes that get requests, in turn. */
  targets: readonly string[];
  /** Answers of 500 and more, and connections that failed. */
  readonly failures: string[];
  close(): Promise<void>;
}

export async function startBalancer(targets: readonly string[]): Promise<Balancer> {
  let next = 0;
  const fail = (response: ServerResponse, reason: string): void => {
    balancer.failures.push(reason);
    if (!response.headersSent) response.writeHead(502).end(reason);
  };
  const server = createServer((request, response) => {
    next += 1;
    const target = balancer.targets[next % balancer.targets.length] ?? '';
    const { method = '', url = '', headers } = request;
    const onward = forward(`${target}${url}`, { method, headers }, (answer) => {
      const status = answer.statusCode ?? 0;
      if (status >= 500) balancer.failures.push(`${method} ${url}: ${status}`);
      response.writeHead(status, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', (error) => fail(response, `${method} ${url}: ${error.message}`));
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const balancer: Balancer = {
    url: `http://127.0.0.1:${port}`,
    targets,
    failures: [],
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
  return balancer;
}
