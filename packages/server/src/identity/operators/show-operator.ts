import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { etag } from '../../platform/http/etag.ts';
import { addressOf } from '../../platform/http/paging.ts';
import type { operatorOutput, OperatorRow } from './operator.ts';

/** An operator as the API shows them. */
export function showOperator(request: FastifyRequest, operator: OperatorRow): Static<typeof operatorOutput> {
  return { ...operator, href: addressOf(request, `/operators/${operator.id}`) };
}

/** The response body for one operator; also sets the ETag header. */
export function answerOperator(
  request: FastifyRequest,
  reply: FastifyReply,
  operator: OperatorRow,
): Static<typeof operatorOutput> {
  reply.header('etag', etag(operator.version));
  return showOperator(request, operator);
}
