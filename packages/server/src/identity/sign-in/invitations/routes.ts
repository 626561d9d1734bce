import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { inTransaction } from '../../../platform/database.ts';
import { invalid, notFound, Refusal } from '../../../platform/errors.ts';
import type { App } from '../../../platform/http.ts';
import { newId } from '../../../platform/ids.ts';
import { addressKey } from '../../../platform/rate-limit.ts';
import { body, name, output, timestamp, uuid } from '../../../platform/schema.ts';
import { operatorOf } from '../../access.ts';
import { recordChange } from '../../audit/audit.ts';
import { belongings, concerning } from '../../operators/audited.ts';
import type { OperatorRow } from '../../operators/operator.ts';
import { operatorToChange } from '../../operators/permission.ts';
import { digestOf, newSecret } from '../../secrets.ts';
import { forgetDevices } from '../devices/store.ts';
import { holdOperator } from '../hold-operator.ts';
import { withdrawLinks } from '../links.ts';
import type { SignInParts } from '../parts.ts';
import { newPassword, weakness } from '../passwords/password.ts';
import { setPassword } from '../passwords/store.ts';
import { answerEntered, refuseCrossOrigin, signedIn } from '../sessions/answer.ts';
import { openSession, type OpenedSession } from '../sessions/open-session.ts';
import { endSessions } from '../sessions/store.ts';
import { findInvited, listInvitations, putInvitation, spendInvitation, withdrawInvitation } from './store.ts';

const tags = ['Signing in'];
const operatorParams = Type.Object({ operator_id: uuid<'operator'>() });
const listed = { id: uuid<'invitation'>(), created_at: timestamp, expires_at: timestamp };
const invitation = Type.String({ minLength: 1, maxLength: 128, description: 'The part of the link behind #' });

export function invitationRoutes(app: App, parts: SignInParts): void {
  invitingRoutes(app, parts.publicUrl);
  acceptingRoutes(app, parts);
}

/** Whoever may give an operator keys may invite it: who accepts is the operator. */
function invitingRoutes(app: App, publicUrl: string): void {
  const access = { operator: 'super_manager', site: 'resource', rule: 'self or every site', wholeToken: true } as const;
  const url = Type.String({
    description: 'To be given to the operator; shown this once. A path without USHER_PUBLIC_URL',
  });

  app.post(
    '/operators/:operator_id/invitations',
    {
      config: { access, audit: { action: 'invitation.create', ...belongings } },
      schema: {
        tags,
        summary: 'Invite an operator to choose a password; valid for seven days, once, and instead of any before',
        params: operatorParams,
        body: body({}),
        response: { 201: output('NewInvitation', { ...listed, url }) },
      },
    },
    async (request, reply) => {
      const invited = await operatorToChange(request, request.params.operator_id);
      const { id: operatorId, account_id: accountId } = invited;
      if (!(await holdOperator(request.sql, operatorId)))
        throw new Refusal('operator_disabled', 'The operator is disabled. Enable it first.');
      refuseToReplaceOwn(request, invited);
      const token = newSecret('usi');
      const row = await putInvitation(request.sql, { id: newId(), accountId, operatorId, digest: digestOf(token) });
      recordChange(request, { after: { id: row.id, operator_id: operatorId }, ...concerning(invited) });
      reply.code(201).header('location', `/operators/${operatorId}/invitations/${row.id}`);
      // Behind `#`, so that it reaches no server's log.
      return { ...row, url: `${publicUrl}/console/invitation#${token}` };
    },
  );

  app.get(
    '/operators/:operator_id/invitations',
    {
      config: { access },
      schema: {
        tags,
        summary: 'The invitation that waits to be accepted, if there is one',
        params: operatorParams,
        response: { 200: Type.Object({ invitations: Type.Array(output('Invitation', listed)) }) },
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
      config: { access, audit: { action: 'invitation.withdraw', ...belongings } },
      schema: {
        tags,
        summary: 'Withdraw an invitation',
        params: Type.Object({ operator_id: uuid<'operator'>(), invitation_id: uuid<'invitation'>() }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { operator_id, invitation_id: id } = request.params;
      const invited = await operatorToChange(request, operator_id);
      if (!(await withdrawInvitation(request.sql, invited.id, id))) throw notFound('invitation', id);
      recordChange(request, { before: { id, operator_id }, ...concerning(invited) });
      reply.code(204);
    },
  );
}

/** Whoever got hold of a token must not get a password by it: that takes the present one, or somebody else's invitation. */
function refuseToReplaceOwn(request: FastifyRequest, { id, sign_in: signIn }: OperatorRow): void {
  if (id === operatorOf(request).operatorId && signIn.password)
    throw new Refusal(
      'forbidden',
      'Your own password is changed by PUT /operator_authentication/password; if it is forgotten, have somebody else invite you.',
    );
}

/** For those who have an invitation and nothing else yet. */
function acceptingRoutes(app: App, parts: SignInParts): void {
  const preview = output('InvitationPreview', { name, email: Type.String(), expires_at: timestamp });

  app.post(
    '/operator_authentication/invitations/preview',
    {
      config: { access: { public: true, shows: 'an invitation' }, audit: 'signing in' },
      schema: {
        tags,
        summary: 'Whom an invitation is for',
        body: body({ invitation }),
        response: { 200: preview },
      },
    },
    async (request) => {
      parts.attempts.take(addressKey(request.ip));
      const found = await findInvited(request.sql, digestOf(request.body.invitation));
      if (found === null) throw unknownInvitation();
      return { name: found.name, email: found.email, expires_at: found.expires_at };
    },
  );

  app.post(
    '/operator_authentication/invitations/accept',
    {
      config: { access: { public: true, shows: 'an invitation' }, settles: true, audit: 'signing in' },
      schema: {
        tags,
        summary: 'Accept an invitation: choose a password and sign in',
        description: "The operator's other sessions end.",
        body: body({ invitation, password: newPassword }),
        response: { 201: signedIn },
      },
    },
    async (request, reply) => {
      refuseCrossOrigin(request, parts.publicUrl);
      const session = await accept(parts, request, request.body);
      reply.code(201);
      return answerEntered({ tokens: parts.tokens, request, reply }, session);
    },
  );
}

async function accept(
  { attempts, hasher }: SignInParts,
  request: FastifyRequest,
  given: { readonly invitation: string; readonly password: string },
): Promise<OpenedSession> {
  attempts.take(addressKey(request.ip));
  const digest = digestOf(given.invitation);
  const found = await findInvited(request.sql, digest);
  if (found === null) throw unknownInvitation();
  const fault = weakness(given.password, found);
  if (fault !== null) throw invalid([{ attribute: '/password', detail: fault }]);
  const { accountId, operatorId } = found;
  const hash = await hasher.hash(given.password);
  return inTransaction(request.sql, async (sql) => {
    await holdOperator(sql, operatorId);
    if (!(await spendInvitation(sql, digest))) throw unknownInvitation();
    const userAgent = request.headers['user-agent'];
    await forgetDevices(sql, operatorId);
    // The cookie of a browser that is known does not go to this address.
    const entrant = { accountId, operatorId, proof: { by: 'invitation' }, userAgent, presented: null } as const;
    const session = await openSession(sql, entrant);
    await setPassword(sql, { accountId, operatorId, hash });
    await endSessions(sql, operatorId, session.id);
    await withdrawLinks(sql, operatorId);
    return session;
  });
}

function unknownInvitation(): Refusal {
  return new Refusal(
    'invitation_unknown',
    'The invitation was accepted, withdrawn or replaced, or is too old. Ask for a new one.',
  );
}
