// What the server uses of undici, for its build: the whole has mocks, caches, WebSockets and more, and loading that took a tenth of
// the processor time of a start. Who imports something else from undici gets an error from the build, and adds it here.
import api from 'undici/lib/api/index.js';
import buildConnector from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';

Object.assign(Dispatcher.prototype, api);

export { Agent, buildConnector };

/** As undici has it, except that the dispatcher must be given. */
export async function request(url, { dispatcher, ...options }) {
  const { origin, pathname, search } = new URL(url);
  const method = options.method ?? (options.body ? 'PUT' : 'GET');
  return dispatcher.request({ ...options, origin, path: pathname + search, method });
}

/** Only a carrier for SMS uses it. */
export async function fetch(input, init) {
  const { default: web } = await import('undici/lib/web/fetch/index.js');
  return web.fetch(input, init);
}
