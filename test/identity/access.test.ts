import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeclaredAccess } from '../../packages/server/src/identity/declared-access.ts';
import { readExamples } from '../../packages/server/src/platform/reference/api-examples.ts';
import { exampleCaller, exampleOf, haveSameFields, operationOf } from '../support/api/api-examples.ts';
import { openCast } from '../support/api/cast.ts';
import { expectedAccess, callerKinds } from '../support/api/expected-access.ts';
import { forThisFile } from '../support/fixture.ts';
import { makeTargets, type Targets } from '../support/api/route-targets.ts';
import { call, type Answer } from '../support/server.ts';
import { hasSucceeded, validRequest } from '../support/api/valid-requests.ts';

const examples = readExamples();

/** The example of the operation in openapi.json has the fields of the answer. */
function checkExample(route: DeclaredAccess, body: unknown, answer: Answer): void {
  const stored = examples[operationOf(route)];
  if (stored === undefined) return;
  const { request, response, status, headers } = exampleOf(body, answer);
  const isSame = haveSameFields(stored.request, request) && haveSameFields(stored.response, response);
  const message = `the example of ${operationOf(route)} is out of date; run npm run openapi`;
  assert.deepEqual([stored.status, stored.headers, isSame], [status, headers, true], message);
}

/**
 * Calls every route as every kind of caller. The expected result follows from what the route declares. The requests are valid,
 * so that a refusal can only be due to the caller.
 */
const cast = await forThisFile(openCast());

test('D9.1 every route admits exactly the callers it declares', async (t) => {
  const { server, staff } = cast;
  const routes = server.app.declaredAccess.filter(({ method }) => method !== 'HEAD');
  assert.ok(routes.length > 25);
  for (const [index, route] of routes.entries()) {
    const name = `${route.method} ${route.url}`;
    await t.test(name, async () => {
      let unused: Targets | null = null;
      for (const kind of callerKinds) {
        const expectedResult = expectedAccess(route.access, kind);
        // A refused request changes nothing, so its targets can be reused. Strangers and staff need their own targets.
        const shares = expectedResult !== 'allowed' && kind !== 'stranger' && !(kind in staff);
        const targets: Targets = (shares ? unused : null) ?? (await makeTargets(cast, route, kind));
        if (shares) unused = targets;
        const { path, query, token, body, headers } = await validRequest(cast, route, { kind, targets });
        // One address per route, because so many refused requests would exceed the limit of one address.
        const from = { 'x-forwarded-for': `10.0.0.${index}` };
        const answer = await call(server, `${route.method} ${path}${query}`, {
          token,
          body,
          headers: { ...headers, ...from },
        });
        const found = hasSucceeded(route, answer.status) ? 'allowed' : answer.status;
        assert.equal(found, expectedResult, `${kind}: ${JSON.stringify(answer.body)}`);
        if (kind === exampleCaller(route)) checkExample(route, body, answer);
        if (answer.status === 401) assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
      }
    });
  }
});
