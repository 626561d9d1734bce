import assert from 'node:assert/strict';
import type { Sql } from '../../../packages/server/src/platform/database/database.ts';
import type {
  EngagementId,
  OperatorId,
  RequestId,
  TicketId,
  VisitorId,
} from '../../../packages/server/src/platform/ids.ts';
import { operatorCapacity, type SimulatedAccount } from './account.ts';

interface ActiveEngagement {
  readonly id: EngagementId;
  readonly operatorId: OperatorId;
  readonly visitorId: VisitorId;
}

/** What clients were answered, and what may never be true in the database. */
export class Ledger {
  readonly tickets = new Set<TicketId>();
  readonly canceled = new Set<TicketId>();
  readonly answered = new Map<RequestId, { readonly state: string; readonly engagementId: EngagementId | null }>();
  readonly ended = new Set<EngagementId>();
  readonly messages = new Set<string>();
  readonly #sql: Sql;
  readonly #account: SimulatedAccount;
  #active: readonly ActiveEngagement[] = [];
  #failure: { readonly error: unknown } | null = null;

  constructor(sql: Sql, account: SimulatedAccount) {
    this.#sql = sql;
    this.#account = account;
  }

  /** Notes what must not happen. The next check throws it. */
  fail(error: unknown): void {
    this.#failure ??= { error };
  }

  engagementOf(visitorId: VisitorId): EngagementId | null {
    return this.#active.find((each) => each.visitorId === visitorId)?.id ?? null;
  }

  engagementsOf(operatorId: OperatorId): EngagementId[] {
    return this.#active.flatMap((each) => (each.operatorId === operatorId ? [each.id] : []));
  }

  throwFailure(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }

  /** After each commit: what holds at any time. */
  async checkCommitted(): Promise<void> {
    const sql = this.#sql;
    const { id } = this.#account;
    const occupied = await sql<(ActiveEngagement & { ticketId: string | null; isPending: boolean })[]>`
      SELECT id, operator_id AS "operatorId", visitor_id AS "visitorId", ticket_id AS "ticketId", false AS "isPending"
        FROM engagements WHERE account_id = ${id} AND ended_at IS NULL
       UNION ALL
      SELECT id, operator_id, visitor_id, ticket_id, true
        FROM engagement_requests WHERE account_id = ${id} AND state = 'pending'
       ORDER BY id`;
    const engagements = occupied.filter(({ isPending }) => !isPending);
    this.#active = engagements;
    for (const operatorId of this.#account.operators) {
      const load = occupied.filter((each) => each.operatorId === operatorId).length;
      assert.ok(load <= operatorCapacity, `an operator has ${load} engagements and requests`);
    }
    const offered = occupied.flatMap(({ ticketId, isPending }) => (isPending ? (ticketId ?? []) : []));
    assert.equal(new Set(offered).size, offered.length, 'a ticket is offered twice');
    const engaged = engagements.map(({ visitorId }) => visitorId);
    assert.equal(new Set(engaged).size, engaged.length, 'a visitor has two engagements');
  }

  /** Whatever was acknowledged is in the database. */
  async checkAcknowledged(): Promise<void> {
    const sql = this.#sql;
    const { id } = this.#account;
    const tickets = await sql<{ id: TicketId; visitorId: string; state: string; endedAt: Date | null }[]>`
      SELECT id, visitor_id AS "visitorId", state, ended_at AS "endedAt" FROM queue_tickets WHERE account_id = ${id}`;
    const ticketStates = new Map(tickets.map((row) => [row.id, row.state]));
    for (const ticketId of this.tickets) assert.ok(ticketStates.has(ticketId), `the ticket ${ticketId} is lost`);
    for (const ticketId of this.canceled)
      assert.equal(ticketStates.get(ticketId), 'canceled', `the cancellation of ${ticketId} is lost`);
    const active = tickets.filter(({ endedAt }) => endedAt === null).map(({ visitorId }) => visitorId);
    assert.equal(new Set(active).size, active.length, 'a visitor has two active tickets');
    const requests = await sql<{ id: RequestId; state: string }[]>`
      SELECT id, state FROM engagement_requests WHERE account_id = ${id}`;
    const requestStates = new Map(requests.map((row) => [row.id, row.state]));
    const engagements = await sql<{ id: EngagementId; requestId: RequestId; endedAt: Date | null }[]>`
      SELECT id, request_id AS "requestId", ended_at AS "endedAt" FROM engagements WHERE account_id = ${id}`;
    const engagementById = new Map(engagements.map((row) => [row.id, row]));
    for (const [requestId, { state, engagementId }] of this.answered) {
      assert.equal(requestStates.get(requestId), state, `the answer to the request ${requestId} is lost`);
      if (engagementId !== null) assert.ok(engagementById.has(engagementId), `the engagement ${engagementId} is lost`);
    }
    for (const engagementId of this.ended)
      assert.ok(engagementById.get(engagementId)?.endedAt, `the end of the engagement ${engagementId} is lost`);
    const begunBy = engagements.map(({ requestId }) => requestId);
    assert.equal(new Set(begunBy).size, begunBy.length, 'a request has become two engagements');
  }

  /** The log has each event once, those of an engagement in the order in which they happened. */
  async checkEvents(): Promise<void> {
    const sql = this.#sql;
    const { id } = this.#account;
    const events = await sql<{ type: string; engagementId: string; messageId: string | null }[]>`
      SELECT type, engagement_id AS "engagementId", payload -> 'message' ->> 'id' AS "messageId"
        FROM events WHERE account_id = ${id} AND engagement_id IS NOT NULL ORDER BY seq`;
    const engagements = await sql<{ id: string; endedAt: Date | null; undelivered: number }[]>`
      SELECT id, ended_at AS "endedAt", undelivered_to_operator AS undelivered FROM engagements WHERE account_id = ${id}`;
    const messages = await sql<{ id: string; engagementId: string; content: string; target: string }[]>`
      SELECT m.id, m.engagement_id AS "engagementId", m.content, m.target FROM chat_messages m
       WHERE m.account_id = ${id}`;
    for (const { id: engagementId, endedAt, undelivered } of engagements) {
      const own = events.filter((event) => event.engagementId === engagementId);
      const types = own.map(({ type }) => type);
      const count = (type: string): number => types.filter((each) => each === type).length;
      assert.equal(count('engagement.start'), 1, `starts of the engagement ${engagementId}`);
      assert.equal(count('engagement.end'), endedAt === null ? 0 : 1, `ends of the engagement ${engagementId}`);
      const start = types.indexOf('engagement.start');
      const firstMessage = types.indexOf('engagement.chat.message');
      assert.ok(firstMessage === -1 || start < firstMessage, 'a message comes before the start of its engagement');
      const lastMessage = types.lastIndexOf('engagement.chat.message');
      if (endedAt !== null) assert.ok(lastMessage < types.indexOf('engagement.end'), 'a message comes after the end');
      const stored = messages.filter((message) => message.engagementId === engagementId);
      const appended = own.flatMap(({ type, messageId }) =>
        type === 'engagement.chat.message' ? [messageId ?? ''] : [],
      );
      assert.equal(new Set(appended).size, appended.length, 'a message has two events');
      assert.deepEqual(new Set(appended), new Set(stored.map((message) => message.id)), 'each message has an event');
      assert.equal(undelivered, stored.filter(({ target }) => target === 'operator').length, 'undelivered messages');
      this.#checkOrder(stored, appended);
    }
    const storedIds = new Set(messages.map((message) => message.id));
    for (const messageId of this.messages) assert.ok(storedIds.has(messageId), `the message ${messageId} is lost`);
  }

  /** A visitor numbers their messages, and sends the next one after the answer. What was not answered may come late. */
  #checkOrder(stored: readonly { id: string; content: string }[], appended: readonly string[]): void {
    const numberOf = new Map(stored.map(({ id, content }) => [id, Number(content)]));
    let highest = 0;
    for (const messageId of appended) {
      const number = numberOf.get(messageId) ?? 0;
      const isAcknowledged = this.messages.has(messageId);
      assert.ok(!isAcknowledged || number > highest, `message ${number} comes after message ${highest}`);
      highest = Math.max(highest, number);
    }
  }

  /** The moves of the board follow each other without a gap up to the current version. */
  async checkMoves(): Promise<void> {
    const sql = this.#sql;
    const { id } = this.#account;
    const moves = await sql<{ version: string; previous: string }[]>`
      SELECT version::text, previous::text FROM board_moves m WHERE account_id = ${id} ORDER BY m.version`;
    const [account] = await sql<{ version: string }[]>`
      SELECT board_version::text AS version FROM accounts WHERE id = ${id}`;
    for (const [index, { previous }] of moves.entries())
      if (index > 0)
        assert.equal(previous, moves[index - 1]?.version, 'a version of the board follows two others or none');
    assert.equal(account?.version, moves.at(-1)?.version, 'the version of the board is that of the last move');
  }
}
