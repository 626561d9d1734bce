import assert from 'node:assert/strict';
import { makeEvent } from '../../../packages/server/src/events/make-event.ts';
import { Refusal } from '../../../packages/server/src/platform/errors.ts';
import type {
  EngagementId,
  OperatorId,
  QueueId,
  RequestId,
  SiteId,
  TicketId,
  VisitorId,
} from '../../../packages/server/src/platform/ids.ts';
import {
  newBoard,
  nextDue as boardDue,
  takeChanges,
  type Board,
} from '../../../packages/server/src/routing/board/board.ts';
import type { Changes } from '../../../packages/server/src/routing/board/structures/changes.ts';
import { apply, type Command } from '../../../packages/server/src/routing/board/commands.ts';
import {
  names,
  nth,
  operatorParty,
  visitorParty,
  type Action,
  type History,
  type OperatorInput,
  type SiteInput,
  type Step,
} from './model-history.ts';
import { assertInvariants, worldView, boardView, visibleChanges } from './model-views.ts';
import { excuseBoth, moveLedger, moveWorld } from './model-step.ts';
import { endCallCommand, upgradeCommand } from './model-upgrade.ts';
import { act, configureOperator, configureQueue, nextDue } from './reference.ts';
import { hookOf } from './reference-transitions.ts';
import { loadOf, newWorld, ReferenceRefusal, nextMatch, pending, visitorsIn, type World } from './reference-world.ts';
import { dropOperator, dropQueue } from '../../../packages/server/src/routing/board/rules/staffing.ts';
import type { QueueSettings } from '../../../packages/server/src/routing/board/structures/state.ts';
import { Ledger, noRows, type Rows } from './model-ledger.ts';
import { idSource, monday, notes, siteNamed } from './desk.ts';

const dayMs = 86_400_000;

const notesOf = (id: string) => ({ ...notes, webhooks: [hookOf({ id })] });

/** Runs one history on the boards of two processes with a shared database and on the reference, and compares them. */
export class Run {
  #now = monday;
  readonly #ledger = new Ledger();
  readonly #world: World = newWorld(idSource());
  readonly #newId = idSource();
  /** The board that executes commands, and the board that only reads what the first has written. */
  #board: Board = newBoard(this.#newId);
  #other: Board = newBoard(this.#newId);
  /** The ids of the reference by the ids of the board. */
  readonly #referenceIds = new Map<string, string>();
  #created = { requests: 0, engagements: 0 };
  #idCount = 0;
  /** The ids of dropped operators are not used again. */
  readonly #dropped = new Set<OperatorId>();

  constructor({ sites, queues, operators }: Pick<History, 'sites' | 'queues' | 'operators'>) {
    this.#world.now = this.#now;
    for (const [which, input] of sites.entries()) this.#putSite(which, input);
    for (const settings of queues) this.#putQueue(settings);
    for (const input of operators) this.#putOperator(input);
    this.#compare({ name: 'tick' });
  }

  step({ wait, action }: Step): void {
    if (action.do === 'otherProcess' || action.do === 'reload') this.#changeProcess(action);
    if (action.do === 'stepClock') this.#stepClock(action.days * dayMs);
    const lastTurnAt = this.#now;
    const due = boardDue(this.#board);
    if (wait !== 'due') this.#now += wait * 1000;
    else if (due !== null) this.#now = Math.max(this.#now, due);
    if (action.do === 'outage') this.#endOutage(action, lastTurnAt);
    this.#compare(this.#commandOf(action));
  }

  /** The service was out after the wait; `lastTurnAt` is the last turn before. */
  #endOutage({ sec, restarted }: Action<'outage'>, lastTurnAt: number): void {
    const outage = { outageMs: sec * 1000, lastTurnAt };
    this.#now += outage.outageMs;
    if (restarted) this.#board = this.#ledger.load(this.#newId, this.#now);
    excuseBoth(this.#board, this.#world, outage);
  }

  /** A board that has read every change, or has just loaded all rows, continues where the last board stopped. */
  #changeProcess(action: Action<'otherProcess' | 'reload'>): void {
    if (action.do === 'reload') this.#board = this.#ledger.load(this.#newId, this.#now);
    else [this.#board, this.#other] = [this.#other, this.#board];
    this.#compare({ name: 'tick' });
  }

  /** Shifts all stored times and reloads the boards, which must behave as before. */
  #stepClock(byMs: number): void {
    this.#compare({ name: 'tick' });
    this.#now += byMs;
    moveLedger(this.#ledger, byMs, this.#now);
    moveWorld(this.#world, byMs, this.#now);
    this.#world.now = this.#now;
    this.#board = this.#ledger.load(this.#newId, this.#now);
    this.#other = this.#ledger.load(this.#newId, this.#now);
  }

  #commandOf(action: Action): Command {
    switch (action.do) {
      case 'enqueue':
      case 'requestDirectly':
        return this.#newCommand(action);
      case 'cancelTicket':
      case 'answer':
      case 'transferToOperator':
      case 'transferToQueue':
      case 'end':
        return this.#commandOnExisting(action);
      case 'acceptUpgrade':
        return upgradeCommand(this.#board, action);
      case 'endCall':
        return endCallCommand(this.#board, action);
      case 'setPresence': {
        const { available, media } = action;
        const operatorId = this.#operatorId(action.operator);
        return {
          name: 'setPresence',
          operatorId,
          available,
          media,
          leaseMs: action.leaseSec === null ? null : action.leaseSec * 1000,
          reason: null,
        };
      }
      case 'setVisitorPresence': {
        const visitorId = nth(names.visitors, action.visitor);
        return { name: 'setVisitorPresence', visitorId, leaseMs: action.leaseSec * 1000 };
      }
      case 'renewPresence': {
        const visitorIds = [nth(names.visitors, action.visitor)];
        return { name: action.do, operatorIds: [this.#operatorId(action.operator)], visitorIds, leaseMs: 30_000 };
      }
      case 'otherProcess':
      case 'reload':
      case 'stepClock':
      case 'outage':
      case 'tick':
        return { name: 'tick' };
      case 'putQueue':
      case 'putOperator':
      case 'putSite':
      case 'dropQueue':
      case 'dropOperator':
        this.#compare({ name: 'tick' });
        this.#configure(action);
        return { name: 'tick' };
    }
  }

  #newCommand(action: Action<'enqueue' | 'requestDirectly'>): Command {
    const siteId = nth(names.sites, action.site);
    const visitorId = nth(names.visitors, action.visitor);
    this.#idCount += 1;
    const id = `asked-${String(this.#idCount).padStart(4, '0')}`;
    const { medium } = action;
    if (action.do === 'requestDirectly') {
      const operatorId = this.#operatorId(action.operator);
      const facts = this.#factsOf(visitorId, nth(names.sites, action.on), null);
      const { origin } = action;
      const byPhone = action.byPhone && origin === 'operator';
      return {
        name: 'requestDirectly',
        id: id as RequestId,
        origin,
        siteId,
        visitorId,
        operatorId,
        medium: byPhone ? 'text' : medium,
        facts,
        notes: { ...notesOf(id), platform: byPhone ? 'sms' : 'web' },
        address: origin === 'visitor' ? action.address : null,
      };
    }
    const queueIds = action.queues?.map((which) => this.#queueId(which, siteId)) ?? null;
    const facts = this.#factsOf(visitorId, siteId, action.last);
    const { requiredTeams } = action;
    return {
      name: 'enqueue',
      id: id as TicketId,
      siteId,
      visitorId,
      medium,
      queueIds,
      requiredTeams,
      facts,
      notes: notesOf(id),
      address: action.address,
    };
  }

  /** A command on an existing ticket, request or engagement; with an unknown id if there is none. */
  #commandOnExisting(
    action: Action<'cancelTicket' | 'answer' | 'transferToOperator' | 'transferToQueue' | 'end'>,
  ): Command {
    const { which, valid } = action;
    if (action.do === 'cancelTicket') {
      const ticket = nth([...this.#board.tickets.values()], which);
      const isTransfer = (ticket?.kind === 'transfer') === valid;
      const ticketId = ticket?.id ?? ('none' as TicketId);
      return { name: 'cancelTicket', ticketId, kind: isTransfer ? 'transfer' : 'visitor', by: action.by };
    }
    if (action.do === 'answer') return this.#answerCommand(action);
    const engagement = nth([...this.#board.engagements.values()], which);
    const engagementId = engagement?.id ?? ('none' as EngagementId);
    const operatorId = engagement?.operator.settings.id ?? nth(names.operators, which);
    const by = valid ? operatorId : nth(names.operators, which + 1);
    this.#idCount += 1;
    const id = `asked-${String(this.#idCount).padStart(4, '0')}`;
    if (action.do === 'end') {
      const visitorId = valid ? (engagement?.visitor.id ?? names.visitors[0]) : nth(names.visitors, which);
      const party = action.by === 'operator' ? operatorParty(by) : visitorParty(visitorId);
      return { name: 'end', engagementId, by: party, error: action.error };
    }
    if (action.do === 'transferToOperator') {
      const to = this.#operatorId(action.operator);
      const { medium } = action;
      return {
        name: 'transferToOperator',
        id: id as RequestId,
        engagementId,
        by,
        operatorId: to,
        medium,
        notes: notesOf(id),
      };
    }
    const queueId = this.#queueId(action.queue, null);
    const facts = this.#factsOf(engagement?.visitor.id ?? nth(names.visitors, which), nth(names.sites, 0), null);
    return {
      name: 'transferToQueue',
      id: id as TicketId,
      engagementId,
      by,
      queueId,
      medium: action.medium,
      facts,
      notes: notesOf(id),
    };
  }

  #answerCommand({ which, action, valid, error }: Action<'answer'>): Command {
    const request = nth([...this.#board.requests.values()], which);
    if (request === undefined)
      return { name: 'answer', requestId: 'none' as RequestId, action, by: visitorParty(names.visitors[0]), error };
    const { kind, origin, visitor, engagement } = request;
    const operator = operatorParty(request.operator.settings.id);
    const requester =
      kind === 'transfer'
        ? operatorParty(engagement?.operator.settings.id)
        : origin === 'visitor'
          ? visitorParty(visitor.id)
          : operator;
    const invited = kind !== 'transfer' && origin === 'operator' ? visitorParty(visitor.id) : operator;
    const by = (action === 'cancel') === valid ? requester : invited;
    const stranger = kind === 'transfer' ? visitorParty(visitor.id) : operatorParty(nth(names.operators, which));
    const name = (kind === 'transfer') === (valid || which > 0) ? 'answerTransfer' : 'answer';
    return { name, requestId: request.id, action, by: valid || which < 3 ? by : stranger, error };
  }

  /** What the database stores about the visitor. */
  #factsOf(visitorId: VisitorId, siteId: SiteId, last: number | null) {
    const teams = [[], ['team-1', 'team-2'], ['team-1'], ['team-2'], ['team-1', 'team-2'], []] as never[][];
    return {
      siteId,
      teams: nth(teams, names.visitors.indexOf(visitorId)),
      leaseUntil: this.#ledger.leases.get(visitorId) ?? null,
      lastOperatorId: last === null ? null : this.#operatorId(last),
    };
  }

  /** An existing queue, or sometimes a queue that may not exist. */
  #queueId(which: number, siteId: SiteId | null): QueueId {
    const known = this.#world.queues.map(({ settings }) => settings);
    const fitting = known.filter((queue) => siteId === null || queue.siteId === siteId).map(({ id }) => id);
    return which === 5 || fitting.length === 0 ? nth(names.queues, which * this.#idCount) : nth(fitting, which);
  }

  #operatorId(which: number): OperatorId {
    const known = this.#world.operators.map(({ settings }) => settings.id);
    return which === 5 || known.length === 0 ? nth(names.operators, which * this.#idCount) : nth(known, which);
  }

  #in(sec: number | null): number | null {
    return sec === null ? null : this.#now + sec * 1000;
  }

  #configure(action: Action<'putQueue' | 'putOperator' | 'putSite' | 'dropQueue' | 'dropOperator'>): void {
    if (action.do === 'putQueue') this.#putQueue(action.settings);
    else if (action.do === 'putOperator') this.#putOperator(action.input);
    else if (action.do === 'putSite') this.#putSite(action.which, action.settings);
    else if (action.do === 'dropQueue') this.#dropQueue(action.which);
    else this.#dropOperator(action.which);
  }

  #putSite(which: number, input: SiteInput): void {
    const site = siteNamed(nth(names.sites, which), input);
    this.#ledger.sites.set(site.id, site);
    this.#world.sites.set(site.id, site);
    this.#read({ sites: [site.id] }, [this.#board, this.#other]);
  }

  /** A queue never changes its site. */
  #putQueue(input: QueueSettings): void {
    const { siteId } = this.#ledger.queues.get(input.id) ?? input;
    const settings = { ...input, siteId };
    this.#ledger.queues.set(settings.id, settings);
    configureQueue(this.#world, settings);
    this.#read({ queues: [settings.id] }, [this.#board, this.#other]);
  }

  #putOperator({ onA, onB, leaseSec, ...rest }: OperatorInput): void {
    if (this.#dropped.has(rest.id)) return;
    const [a, b] = names.sites.map((site, which) => ({ site, teams: which === 0 ? onA : onB }));
    const assigned = [a, b].flatMap((each) => (each?.teams ? [[each.site, new Set(each.teams)] as const] : []));
    const settings = { ...rest, sites: new Map(assigned), leaseUntil: this.#in(leaseSec) };
    this.#ledger.operators.set(settings.id, settings);
    configureOperator(this.#world, settings);
    this.#read({ operators: [settings.id] }, [this.#board, this.#other]);
  }

  /** Drops a queue only if it has no visitors. */
  #dropQueue(which: number): void {
    const queue = nth(this.#world.queues, which);
    if (queue === undefined || visitorsIn(this.#world, queue).length > 0) return;
    this.#world.queues.splice(this.#world.queues.indexOf(queue), 1);
    this.#ledger.queues.delete(queue.settings.id);
    this.#ledger.memories.delete(queue.settings.id);
    for (const board of [this.#board, this.#other]) {
      const known = board.queues.get(queue.settings.id);
      if (known !== undefined) dropQueue(board, known);
    }
  }

  /** Drops an operator only if they have no requests and no engagements. */
  #dropOperator(which: number): void {
    const operator = nth(this.#world.operators, which);
    if (operator === undefined || loadOf(this.#world, operator).length > 0) return;
    if (pending(this.#world).some((request) => request.operator === operator)) return;
    this.#world.operators.splice(this.#world.operators.indexOf(operator), 1);
    this.#ledger.operators.delete(operator.settings.id);
    this.#dropped.add(operator.settings.id);
    for (const board of [this.#board, this.#other]) dropOperator(board, operator.settings.id);
  }

  #read(rows: Partial<Rows>, boards: readonly Board[]): void {
    for (const board of boards) this.#ledger.put(board, { ...noRows, ...rows });
  }

  /** Executes the command on the board and on the reference, and compares all that is visible. */
  #compare(command: Command): void {
    const mine = outcomeOf(() => apply(this.#board, command, this.#now));
    const expected = outcomeOf(() => act(this.#world, this.#withReferenceIds(command), this.#now));
    const changes = takeChanges(this.#board);
    this.#read(this.#ledger.write(changes), [this.#other]);
    this.#mapIds(changes);
    const seen = { outcome: mine, ...visibleChanges(changes), ...boardView(this.#board, this.#ledger, this.#now) };
    const { events, visits } = this.#world;
    this.#assertSame(seen, { outcome: expected, events, visits, ...worldView(this.#world) }, command);
    this.#world.events = [];
    this.#world.visits = [];
    for (const { type, id, at, fields } of changes.events) makeEvent(type, { id, at: new Date(at) }, fields);
    assertInvariants(this.#board, this.#ledger, command);
    this.#assertNothingMissed(command);
  }

  #assertSame(seen: object, expected: object, command: Command): void {
    const mine = JSON.stringify(seen, (_key, value: unknown) => this.#referenceId(value));
    const theirs = JSON.stringify(expected);
    if (mine === theirs) return;
    const at = `after ${JSON.stringify(command)}, ${(this.#now - monday) / 1000} s after the start`;
    const right = JSON.parse(theirs) as Record<string, unknown>;
    for (const [what, value] of Object.entries(JSON.parse(mine) as Record<string, unknown>))
      assert.deepEqual(value, right[what], `${what} differ ${at}`);
    assert.fail(at);
  }

  #referenceId(value: unknown): unknown {
    return typeof value === 'string' ? (this.#referenceIds.get(value) ?? value) : value;
  }

  /** The command with the ids of the reference. */
  #withReferenceIds(command: Command): Command {
    const named = Object.entries(command).map(([key, value]) => [key, this.#referenceId(value)]);
    return Object.fromEntries(named) as Command;
  }

  /** Maps the ids of new rows to those of the reference, in the order of their creation. */
  #mapIds(changes: Changes): void {
    const { requests, engagements } = changes;
    for (const row of [...requests, ...engagements]) {
      if (row.createdIn !== changes) continue;
      const kind = 'timeoutMs' in row ? 'requests' : 'engagements';
      this.#referenceIds.set(row.id, this.#world[kind][this.#created[kind]]?.id ?? 'unknown');
      this.#created[kind] += 1;
    }
    for (const { id, subEngagementId } of engagements) {
      const engagement = this.#world.engagements.find((each) => each.id === this.#referenceIds.get(id));
      this.#referenceIds.set(subEngagementId, engagement?.subId ?? 'unknown');
    }
  }

  /** Nothing happens before the board's next deadline, and a tick leaves nothing overdue. */
  #assertNothingMissed({ name }: Command): void {
    const due = boardDue(this.#board);
    if (name === 'tick') assert(due === null || due > this.#now, 'a tick left a deadline overdue');
    this.#world.now = Math.max(this.#now, (due ?? this.#now + dayMs) - 1);
    if (name === 'tick') assert.equal(nextDue(this.#world), undefined, 'the board missed a deadline of the reference');
    assert.equal(nextMatch(this.#world), undefined, 'the board missed an offer that is possible');
    this.#world.now = this.#now;
  }
}

/** The id of the result, or the code of a refusal. The views compare the rest of the result. */
function outcomeOf(execute: () => unknown): unknown {
  try {
    const answer = execute();
    const result =
      typeof answer === 'object' && answer !== null && 'created' in answer
        ? (answer as unknown as { ticket: unknown }).ticket
        : answer;
    return result === null ? null : (result as { readonly id: string }).id;
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.code };
    if (error instanceof ReferenceRefusal) return { refused: error.message };
    throw error;
  }
}
