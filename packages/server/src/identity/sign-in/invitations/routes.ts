import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { inTransaction } from '../../../platform/database/database.ts';
import { invalid, notFound, Refusal } from '../../../platform/errors.ts';
import type { App } from '../../../platform/http/http.ts';
import { newId } from '../../../platform/ids.ts';
import { addressKey } from '../../../platform/limits/rate-limit.ts';
import { body, name, output, timestamp, uuid } from '../../../platform/schema.ts';
import { operatorOf } from '../../access.ts';
import { recordChange } from '../../audit/audit.ts';
import { credentialAudit, concernsSitesOf } from '../../operators/audited.ts';
import type { OperatorRow } from '../../operators/operator.ts';
import { operatorToChange } from '../../operators/permission.ts';
import { digestOf, newSecret } from '../../secrets.ts';
import { forgetDevices } from '../devices/store.ts';
import { lockSignIn } from '../lock-sign-in.ts';
import { withdrawLinks } from '../links.ts';
import type { SignInContext } from '../sign-in-context.ts';
import { newPassword, weakness } from '../passwords/password.ts';
import { setPassword } from '../passwords/store.ts';
import { answerNewSession, refuseCrossOrigin, signedIn } from '../sessions/answer.ts';
import { openSession, type OpenedSession } from '../sessions/open-session.ts';
import { endSessions } from '../sessions/store.ts';
import { findInvitedOperator, listInvitations, putInvitation, redeemInvitation, withdrawInvitation } from './store.ts';

const tags = ['Signing in'];
const operatorParams = Type.Object({ operator_id: uuid<'operator'>() });
const fields = { id: uuid<'invitation'>(), created_at: timestamp, expires_at: timestamp };
const invitation = Type.String({ minLength: 1, maxLength: 128, description: 'The part of the link after #' });

export function invitationRoutes(app: App, context: SignInContext): void {
  invitingRoutes(app, context.publicUrl);
  acceptingRoutes(app, context);
}

/** The same permission as for API keys, because whoever accepts the invitation can act as the operator. */
function invitingRoutes(app: App, publicUrl: string): void {
  const access = { operator: 'super_manager', site: 'resource', rule: 'self or every site', wholeToken: true } as const;
  const url = Type.String({
    description: 'Give this link to the operator. Shown only once. Without USHER_PUBLIC_URL it is a path',
  });

  app.post(
    '/operators/:operator_id/invitations',
    {
      config: { access, audit: { action: 'invitation.create', ...credentialAudit } },
      schema: {
        tags,
        summary:
          'Invite an operator to choose a password; works once within seven days and replaces an earlier invitation',
        description:
          'The answer has the link, which is shown only once. Usher sends no e-mail: pass the link on yourself.',
        params: operatorParams,
        body: body({}),
        response: { 201: output('NewInvitation', { ...fields, url }) },
      },
    },
    async (request, reply) => {
      const invited = await operatorToChange(request, request.params.operator_id);
      const { id: operatorId, account_id: accountId } = invited;
      if (!(await lockSignIn(request.sql, operatorId)))
        throw new Refusal('operator_disabled', 'The operator is disabled. Enable the operator first.');
      refuseOwnPasswordReset(request, invited);
      const token = newSecret('usi');
      const row = await putInvitation(request.sql, { id: newId(), accountId, operatorId, digest: digestOf(token) });
      recordChange(request, { after: { id: row.id, operator_id: operatorId }, ...concernsSitesOf(invited) });
      reply.code(201).header('location', `/operators/${operatorId}/invitations/${row.id}`);
      // The token is behind `#`, so that it appears in no server log.
      return { ...row, url: `${publicUrl}/console/invitation#${token}` };
    },
  );

  app.get(
    '/operators/:operator_id/invitations',
    {
      config: { access },
      schema: {
        tags,
        summary: 'List the pending invitation of an operator, if there is one',
        description: 'The list has at most one invitation, without its link, which was shown when it was created.',
        params: operatorParams,
        response: { 200: Type.Object({ invitations: Type.Array(output('Invitation', fields)) }) },
      },
    },
    async (request) => {
      const { id } = await operatorToChange(request, request.params.operator_id);
      return { invitations: await listInvitations(request.sql, id) };
    },
  );

  app.delete(
    '/operators/:operator_id/invitations/:invitation_id',
    {
      config: { access, audit: { action: 'invitation.withdraw', ...credentialAudit } },
      schema: {
        tags,
        summary: 'Withdraw an invitation',
        description: 'Its link stops working at once. A password that was already chosen with it stays.',
        params: Type.Object({ operator_id: uuid<'operator'>(), invitation_id: uuid<'invitation'>() }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { operator_id, invitation_id: id } = request.params;
      const invited = await operatorToChange(request, operator_id);
      if (!(await withdrawInvitation(request.sql, invited.id, id))) throw notFound('invitation', id);
      recordChange(request, { before: { id, operator_id }, ...concernsSitesOf(invited) });
      reply.code(204);
    },
  );
}

/** A stolen token must not be enough to set a new password: that needs the current password or an invitation by somebody else. */
function refuseOwnPasswordReset(request: FastifyRequest, { id, sign_in: signIn }: OperatorRow): void {
  if (id === operatorOf(request).operatorId && signIn.password)
    throw new Refusal(
      'forbidden',
      'Change your own password with PUT /operator_authentication/password. If you forgot it, ask another operator to invite you.',
    );
}

/** For people who have only an invitation so far. */
function acceptingRoutes(app: App, context: SignInContext): void {
  const preview = output('InvitationPreview', { name, email: Type.String(), expires_at: timestamp });

  app.post(
    '/operator_authentication/invitations/preview',
    {
      config: { access: { public: true, shows: 'an invitation' }, audit: 'signing in' },
      schema: {
        tags,
        summary: 'Show whom an invitation is for',
        description: 'For the page on which the invited person chooses a password. The invitation is not used up.',
        body: body({ invitation }),
        response: { 200: preview },
      },
    },
    async (request) => {
      context.attempts.take(addressKey(request.ip));
      const found = await findInvitedOperator(request.sql, digestOf(request.body.invitation));
      if (found === null) throw unknownInvitation();
      return { name: found.name, email: found.email, expires_at: found.expires_at };
    },
  );

  app.post(
    '/operator_authentication/invitations/accept',
    {
      config: { access: { public: true, shows: 'an invitation' }, changesCaches: true, audit: 'signing in' },
      schema: {
        tags,
        summary: 'Accept an invitation: choose a password and sign in',
        description: "The operator's other sessions end.",
        body: body({ invitation, password: newPassword }),
        response: { 201: signedIn },
      },
    },
    async (request, reply) => {
      refuseCrossOrigin(request, context.publicUrl);
      const session = await accept(context, request, request.body);
      reply.code(201);
      return answerNewSession({ tokens: context.tokens, request, reply }, session);
    },
  );
}

async function accept(
  { attempts, hasher }: SignInContext,
  request: FastifyRequest,
  given: { readonly invitation: string; readonly password: string },
): Promise<OpenedSession> {
  attempts.take(addressKey(request.ip));
  const digest = digestOf(given.invitation);
  const found = await findInvitedOperator(request.sql, digest);
  if (found === null) throw unknownInvitation();
  const weak = weakness(given.password, found);
  if (weak !== null) throw invalid([{ attribute: '/password', detail: weak }]);
  const { accountId, operatorId } = found;
  const hash = await hasher.hash(given.password);
  return inTransaction(request.sql, async (sql) => {
    await lockSignIn(sql, operatorId);
    if (!(await redeemInvitation(sql, digest))) throw unknownInvitation();
    const userAgent = request.headers['user-agent'];
    await forgetDevices(sql, operatorId);
    // Browsers do not send the device cookie to this path.
    const verified = { accountId, operatorId, proof: { by: 'invitation' }, userAgent, deviceSecret: null } as const;
    const session = await openSession(sql, verified);
    await setPassword(sql, { accountId, operatorId, hash });
    await endSessions(sql, operatorId, session.id);
    await withdrawLinks(sql, operatorId);
    return session;
  });
}

function unknownInvitation(): Refusal {
  return new Refusal('invitation_unknown', 'This invitation has expired or is no longer valid. Ask for a new one.');
}
