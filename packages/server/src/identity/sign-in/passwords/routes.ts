import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { inTransaction } from '../../../platform/database.ts';
import { invalid, Refusal } from '../../../platform/errors.ts';
import type { App } from '../../../platform/http.ts';
import { body } from '../../../platform/schema.ts';
import { operatorOf } from '../../access.ts';
import { forgetDevices } from '../devices/store.ts';
import { holdOperator } from '../hold-operator.ts';
import { withdrawInvitations } from '../invitations/store.ts';
import { withdrawLinks } from '../links.ts';
import type { SignInParts } from '../parts.ts';
import { endSessions } from '../sessions/store.ts';
import { givenPassword, newPassword, weakness } from './password.ts';
import { findSecured, isPassword, setPassword } from './store.ts';

const change = body({
  current_password: Type.Optional(
    Type.String({ ...givenPassword, description: 'Required of one who has a password already' }),
  ),
  new_password: newPassword,
});

export function passwordRoutes(app: App, parts: SignInParts): void {
  app.put(
    '/operator_authentication/password',
    {
      config: { access: { operator: 'operator', site: 'none', wholeToken: true }, settles: true, audit: 'signing in' },
      schema: {
        tags: ['Signing in'],
        summary: "Choose a password, or change one's own; all other sessions end",
        description: 'So do a pending invitation and one-time links, and no browser is known any more.',
        body: change,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await changePassword(parts, request, request.body);
      reply.code(204);
    },
  );
}

async function changePassword(
  { hasher, guesses }: SignInParts,
  request: FastifyRequest,
  given: Type.Static<typeof change>,
): Promise<void> {
  const { accountId, operatorId, sessionId } = operatorOf(request);
  const owner = await findSecured(request.sql, operatorId);
  if (owner === null) throw new Error('the caller has vanished');
  const fault = weakness(given.new_password, owner);
  if (fault !== null) throw invalid([{ attribute: '/new_password', detail: fault }]);
  if (owner.hash !== null) {
    if (given.current_password === undefined)
      throw invalid([{ attribute: '/current_password', detail: 'is required' }]);
    const right = guesses.fromSession(operatorId);
    if (!(await hasher.matches(given.current_password, owner.hash))) throw wrongPassword();
    right();
  }
  const hash = await hasher.hash(given.new_password);
  await inTransaction(request.sql, async (sql) => {
    await holdOperator(sql, operatorId);
    if (!(await isPassword(sql, operatorId, owner.hash))) throw wrongPassword();
    await setPassword(sql, { accountId, operatorId, hash });
    await endSessions(sql, operatorId, sessionId);
    await withdrawInvitations(sql, operatorId);
    await withdrawLinks(sql, operatorId);
    await forgetDevices(sql, operatorId);
  });
}

/** Not 401: the token is fine, and a client that hears of 401 takes it for gone. */
function wrongPassword(): Refusal {
  return new Refusal('wrong_password', 'The current password is another one.');
}
