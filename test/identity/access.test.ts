import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCast } from '../support/cast.ts';
import { expected, kinds } from '../support/expected-access.ts';
import { forThisFile } from '../support/fixture.ts';
import { makeTargets, type Targets } from '../support/route-targets.ts';
import { call } from '../support/server.ts';
import { hasSucceeded, validRequest } from '../support/valid-requests.ts';

/**
 * Every route × every kind of caller. What is expected follows from what the route declares; the route is asked with a
 * request that would succeed, so that a refusal is a refusal of the caller.
 */
const cast = await forThisFile(openCast());

test('D9.1 every route refuses and admits exactly whom it declares', async (t) => {
  const { server, staff } = cast;
  const routes = server.app.declaredAccess.filter(({ method }) => method !== 'HEAD');
  assert.ok(routes.length > 25);
  for (const [index, route] of routes.entries()) {
    const name = `${route.method} ${route.url}`;
    await t.test(name, async () => {
      let unused: Targets | null = null;
      for (const kind of kinds) {
        const wanted = expected(route.access, kind);
        // Who is refused leaves everything as it was; of strangers and staff some things are their own.
        const shares = wanted !== 'allowed' && kind !== 'stranger' && !(kind in staff);
        const targets: Targets = (shares ? unused : null) ?? (await makeTargets(cast, route, kind));
        if (shares) unused = targets;
        const { path, query, token, body, headers } = await validRequest(cast, route, { kind, targets });
        // From an address of its own: so many that are refused are too many for one.
        const from = { 'x-forwarded-for': `10.0.0.${index}` };
        const answer = await call(server, `${route.method} ${path}${query}`, {
          token,
          body,
          headers: { ...headers, ...from },
        });
        const found = hasSucceeded(route, answer.status) ? 'allowed' : answer.status;
        assert.equal(found, wanted, `${kind}: ${JSON.stringify(answer.body)}`);
        if (answer.status === 401) assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
      }
    });
  }
});
