import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { inTransaction } from '../../../platform/database/database.ts';
import { invalid, Refusal } from '../../../platform/errors.ts';
import type { App } from '../../../platform/http/http.ts';
import { body } from '../../../platform/schema.ts';
import { operatorOf } from '../../access.ts';
import { forgetDevices } from '../devices/store.ts';
import { lockSignIn } from '../lock-sign-in.ts';
import { withdrawInvitations } from '../invitations/store.ts';
import { withdrawLinks } from '../links.ts';
import type { SignInContext } from '../sign-in-context.ts';
import { endSessions } from '../sessions/store.ts';
import { givenPassword, newPassword, weakness } from './password.ts';
import { findOperatorPassword, isCurrentPassword, setPassword } from './store.ts';

const change = body({
  current_password: Type.Optional(
    Type.String({ ...givenPassword, description: 'Required if the operator has a password' }),
  ),
  new_password: newPassword,
});

export function passwordRoutes(app: App, context: SignInContext): void {
  app.put(
    '/operator_authentication/password',
    {
      config: {
        access: { operator: 'operator', site: 'none', wholeToken: true },
        changesCaches: true,
        audit: 'signing in',
      },
      schema: {
        tags: ['Signing in'],
        summary: "Set or change the caller's own password; all other sessions end",
        description: 'Pending invitations and one-time links become invalid, and all known browsers are forgotten.',
        body: change,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await changePassword(context, request, request.body);
      reply.code(204);
    },
  );
}

async function changePassword(
  { hasher, guesses }: SignInContext,
  request: FastifyRequest,
  given: Type.Static<typeof change>,
): Promise<void> {
  const { accountId, operatorId, sessionId } = operatorOf(request);
  const owner = await findOperatorPassword(request.sql, operatorId);
  if (owner === null) throw new Error('the calling operator does not exist');
  const weak = weakness(given.new_password, owner);
  if (weak !== null) throw invalid([{ attribute: '/new_password', detail: weak }]);
  if (owner.hash !== null) {
    if (given.current_password === undefined)
      throw invalid([{ attribute: '/current_password', detail: 'is required' }]);
    const refundGuess = guesses.fromSession(operatorId);
    if (!(await hasher.matches(given.current_password, owner.hash))) throw wrongPassword();
    refundGuess();
  }
  const hash = await hasher.hash(given.new_password);
  await inTransaction(request.sql, async (sql) => {
    await lockSignIn(sql, operatorId);
    if (!(await isCurrentPassword(sql, operatorId, owner.hash))) throw wrongPassword();
    await setPassword(sql, { accountId, operatorId, hash });
    await endSessions(sql, operatorId, sessionId);
    await withdrawInvitations(sql, operatorId);
    await withdrawLinks(sql, operatorId);
    await forgetDevices(sql, operatorId);
  });
}

/** Not 401, because the token is valid, and clients drop a token that gets a 401. */
function wrongPassword(): Refusal {
  return new Refusal('wrong_password', 'Incorrect current password.');
}
