import { media } from '@usher/contract/media';
import Type from 'typebox';
import { accountOf, operatorOf, permitted } from '../../identity/access.ts';
import { recordChange, type Audited } from '../../identity/audit/audit.ts';
import { operatorOutput, presenceInput } from '../../identity/operators/operator.ts';
import { operatorToRead } from '../../identity/operators/permission.ts';
import { answerOperator } from '../../identity/operators/show-operator.ts';
import { findOperator } from '../../identity/operators/store.ts';
import { findVisitor } from '../../identity/visitors/store.ts';
import { visitorOutput, visitorPresence } from '../../identity/visitors/visitor.ts';
import { notFound } from '../../platform/errors.ts';
import type { App } from '../../platform/http/http.ts';
import { uuid } from '../../platform/schema.ts';
import { mediaSet } from '../board/structures/media.ts';
import type { Turns } from '../turns.ts';

/** Recorded only if somebody else sets the presence: setting one's own is everyday work. */
const presenceAudit: Audited = {
  action: 'operator.presence',
  of: Type.Pick(operatorOutput, ['available', 'media', 'presence_reason', 'presence_expires_at']),
  byTurn: true,
};

/** D5.5: presence is a lease. It decides routing, so it is set by a turn. */
export function presenceRoutes(app: App, turns: Turns): void {
  app.put(
    '/operators/:operator_id/presence',
    {
      config: { access: { operator: 'manager', site: 'resource', rule: 'self or one site' }, audit: presenceAudit },
      schema: {
        tags: ['Operators'],
        summary: "Set an operator's availability, until changed or for a time; operators may set their own",
        description:
          'With expires_in_sec the operator becomes unavailable unless it is sent again in time; a live feed with hold_presence does that by itself.',
        params: Type.Object({ operator_id: uuid<'operator'>() }),
        body: presenceInput,
        response: { 200: operatorOutput },
      },
    },
    async (request, reply) => {
      const { available, media: taken = media, expires_in_sec: seconds = null, reason = null } = request.body;
      const before = await operatorToRead(request, request.params.operator_id);
      const { id, account_id } = before;
      const leaseMs = seconds === null ? null : seconds * 1000;
      await turns.run(account_id, {
        name: 'setPresence',
        operatorId: id,
        available,
        media: mediaSet(taken),
        leaseMs,
        reason,
      });
      const operator = await findOperator(request.sql, account_id, id);
      if (operator === null) throw notFound('operator', id);
      if (id !== operatorOf(request).operatorId)
        recordChange(request, { before, concerns: { any: before.assignments.map(({ site_id }) => site_id) } });
      return answerOperator(request, reply, operator);
    },
  );

  app.put(
    '/visitors/:visitor_id/presence',
    {
      config: { access: { visitor: true, site: 'resource' }, audit: 'no operator' },
      schema: {
        tags: ['Visitors'],
        summary: "Renew the visitor's presence",
        description:
          'For a program that waits for the visitor: if it is not sent again within expires_in_sec, the visitor has left.',
        params: Type.Object({ visitor_id: uuid<'visitor'>() }),
        body: visitorPresence,
        response: { 200: visitorOutput },
      },
    },
    async (request) => {
      const { visitor_id: id } = request.params;
      if (request.caller.kind !== 'visitor' || request.caller.visitorId !== id) throw notFound('visitor', id);
      permitted(request);
      const leaseMs = request.body.expires_in_sec * 1000;
      await turns.run(accountOf(request), { name: 'setVisitorPresence', visitorId: id, leaseMs });
      const visitor = await findVisitor(request.sql, accountOf(request), id);
      if (visitor === null) throw notFound('visitor', id);
      // The note is for operators and not shown to the visitor.
      return { ...visitor, note: null };
    },
  );
}
