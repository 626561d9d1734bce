import assert from 'node:assert/strict';
import type { Sql } from '../../../../packages/server/src/platform/database/database.ts';
import type { Receivers, SimulatedRequest } from './receivers.ts';
import type { ClusterAccount } from '../cluster/setup.ts';

/** After so many failures the others of a lane no longer wait for a delivery (D8.7). */
const failuresBeforeParking = 3;

/** What Usher promises about deliveries: see the table in docs/architecture.md. */
export class DeliveryChecks {
  readonly #sql: Sql;
  readonly #account: ClusterAccount;
  readonly #receivers: Receivers;
  /** How many requests were checked when they were sent. */
  #checked = 0;
  /** How many outcomes the log has of each delivery. */
  #logged = new Map<string, number>();

  constructor(sql: Sql, account: ClusterAccount, receivers: Receivers) {
    this.#sql = sql;
    this.#account = account;
    this.#receivers = receivers;
  }

  /** After a step that has sent something: only the owner of a destination sends. */
  async checkOwners(): Promise<void> {
    const sent = this.#receivers.requests.slice(this.#checked);
    if (sent.length === 0) return;
    this.#checked += sent.length;
    const sql = this.#sql;
    const rows = await sql<{ origin: string; epoch: number }[]>`
      SELECT origin, epoch::float8 AS epoch FROM destinations WHERE account_id = ${this.#account.id}`;
    for (const { sender, destination, epoch } of sent) {
      const current = rows.find(({ origin }) => origin === destination.origin)?.epoch;
      assert.equal(epoch, current, `${sender.name} sends to ${destination.origin}, which another process has leased`);
    }
  }

  /** After a commit: each failure is counted once, and only the owner of a destination has written an outcome. */
  async checkOutcomes(): Promise<void> {
    const sql = this.#sql;
    const { id } = this.#account;
    const failing = await sql<{ webhookId: string; eventId: string; attempts: number }[]>`
      SELECT webhook_id AS "webhookId", event_id AS "eventId", attempts
        FROM deliveries WHERE account_id = ${id} AND attempts > 0`;
    for (const { webhookId, eventId, attempts } of failing) {
      const failed = this.#requestsOf(webhookId, eventId).filter(({ seen }) => seen === 'failed').length;
      assert.ok(attempts <= failed, `a delivery that has failed ${failed} times has ${attempts} attempts`);
    }
    const logged = await sql<{ webhookId: string; eventId: string; epoch: number; count: number }[]>`
      SELECT l.webhook_id AS "webhookId", l.event_id AS "eventId", d.epoch::float8 AS epoch, count(*)::integer AS count
        FROM delivery_log l JOIN destinations d ON d.id = l.destination_id
       WHERE l.account_id = ${id}
       GROUP BY l.webhook_id, l.event_id, d.epoch`;
    const before = this.#logged;
    this.#logged = new Map(logged.map(({ webhookId, eventId, count }) => [`${webhookId} ${eventId}`, count]));
    for (const { webhookId, eventId, epoch, count } of logged)
      assert.ok(
        count === (before.get(`${webhookId} ${eventId}`) ?? 0) ||
          this.#requestsOf(webhookId, eventId).some((each) => each.epoch === epoch && each.seen !== null),
        'a process has written an outcome after another has leased the destination',
      );
  }

  /** How long the next delivery that has no final outcome has to wait; `null`: all have theirs. */
  async waitsMs(): Promise<number | null> {
    const sql = this.#sql;
    const [row] = await sql<{ ms: number | null }[]>`
      SELECT min(CASE WHEN due_at IS NULL THEN 0 ELSE extract(epoch FROM due_at - now()) * 1000 END)::float8 AS ms
        FROM deliveries WHERE account_id = ${this.#account.id}`;
    return row?.ms ?? null;
  }

  async checkEnd(): Promise<void> {
    const sql = this.#sql;
    const events = await sql<{ id: string; engagementId: string }[]>`
      SELECT id, engagement_id AS "engagementId"
        FROM events WHERE account_id = ${this.#account.id} AND type = 'engagement.chat.message' ORDER BY seq`;
    const ids = new Set(events.map(({ id }) => id));
    for (const { eventId } of this.#receivers.requests)
      assert.ok(ids.has(eventId), `the event ${eventId} was sent and not committed`);
    for (const { id: webhookId, isOrdered } of this.#account.webhooks) {
      for (const { id } of events)
        assert.ok(
          this.#requestsOf(webhookId, id).some(({ acceptedAt }) => acceptedAt !== null),
          `the event ${id} was not delivered`,
        );
      if (!isOrdered) continue;
      for (const lane of Map.groupBy(events, ({ engagementId }) => engagementId).values())
        this.#checkOrder(
          webhookId,
          lane.map(({ id }) => id),
        );
    }
    await this.#checkLog(events.length * this.#account.webhooks.length);
  }

  /** An event is sent when each one before it in its lane was accepted, or has failed too often to be waited for. */
  #checkOrder(webhookId: string, eventIds: readonly string[]): void {
    const lane = eventIds.map((id) => this.#requestsOf(webhookId, id));
    for (const [index, requests] of lane.entries())
      for (const request of requests)
        for (const [before, earlier] of lane.slice(0, index).entries())
          assert.ok(
            isSettled(earlier, request.sentAt),
            `the event ${index + 1} of an engagement was sent before the event ${before + 1} was settled`,
          );
  }

  /** The log of deliveries has each attempt once, and one final outcome of each delivery. */
  async #checkLog(deliveries: number): Promise<void> {
    const sql = this.#sql;
    const rows = await sql<{ webhookId: string; eventId: string; count: number; finals: number }[]>`
      SELECT webhook_id AS "webhookId", event_id AS "eventId", count(*)::integer AS count,
             count(*) FILTER (WHERE final)::integer AS finals
        FROM delivery_log WHERE account_id = ${this.#account.id}
       GROUP BY webhook_id, event_id`;
    assert.equal(rows.length, deliveries, 'each delivery is in the log');
    for (const { webhookId, eventId, count, finals } of rows) {
      const seen = this.#requestsOf(webhookId, eventId).filter((request) => request.seen !== null).length;
      assert.equal(finals, 1, 'a delivery has one final outcome');
      assert.ok(count <= seen, `the log has ${count} of ${seen} attempts`);
    }
  }

  #requestsOf(webhookId: string, eventId: string): SimulatedRequest[] {
    return this.#receivers.requests.filter((each) => each.webhookId === webhookId && each.eventId === eventId);
  }
}

function isSettled(requests: readonly SimulatedRequest[], place: number): boolean {
  const failed = requests.filter(({ seen, sentAt }) => seen === 'failed' && sentAt < place).length;
  return (
    failed >= failuresBeforeParking || requests.some(({ acceptedAt }) => acceptedAt !== null && acceptedAt < place)
  );
}
