import {
  newId,
  type EngagementId,
  type OperatorId,
  type TicketId,
  type VisitorId,
} from '../../../packages/server/src/platform/ids.ts';
import { isDatabaseUnavailable } from '../../../packages/server/src/platform/database/database.ts';
import { Refusal } from '../../../packages/server/src/platform/errors.ts';
import { mediaSet } from '../../../packages/server/src/routing/board/structures/media.ts';
import type { CommandName, Commands } from '../../../packages/server/src/routing/board/commands.ts';
import type { RequestedCommand } from '../../../packages/server/src/routing/turn.ts';
import type { NewMessage } from '../../../packages/server/src/engagements/messages/store.ts';
import type { SimulatedAccount } from './account.ts';
import type { Ledger } from './ledger.ts';
import type { SimulatedProcess } from './process.ts';
import type { Random } from './random.ts';
import type { Step } from './scheduler.ts';
import { runAs } from './timers.ts';

export interface ClientDependencies {
  readonly account: SimulatedAccount;
  readonly ledger: Ledger;
  readonly random: Random;
  /** The process that answers the next request. */
  readonly anyProcess: () => SimulatedProcess;
  readonly onActivity: () => void;
}

/** What a client may do next. */
interface Action {
  readonly what: string;
  readonly run: () => void;
  /** How much more probable than others. */
  readonly weight?: number;
}

/** Clients are slower than statements, so that most of what they ask for happens before they ask for more. */
const clientWeight = 0.3;

type Offer = Commands['viewRequests']['answer'][number];

const notes = { source: null, platform: 'web', mediaOptions: null, message: null, webhooks: [] } as const;

/** Somebody who sends one request after the other, each to any process. */
abstract class Client {
  readonly name: string;
  protected readonly dependencies: ClientDependencies;
  /** The process that has a request of the client. */
  #waitsFor: { readonly process: SimulatedProcess } | null = null;

  constructor(name: string, dependencies: ClientDependencies) {
    this.name = name;
    this.dependencies = dependencies;
  }

  /** What the client may do now. */
  steps(): Step[] {
    if (this.#waitsFor !== null) return [];
    return this.actions().map(({ what, run, weight = 1 }) => ({
      name: `${this.name} ${what}`,
      run,
      weight: weight * clientWeight,
    }));
  }

  get isWaiting(): boolean {
    return this.#waitsFor !== null;
  }

  /** The process was killed. Whether it has done what it was asked for is unknown. */
  onKilled(process: SimulatedProcess): void {
    if (this.#waitsFor?.process === process) this.#waitsFor = null;
  }

  protected abstract actions(): Action[];

  /** Sends a request. An answer after the process was killed is not received. */
  protected request<Answer>(
    ask: (process: SimulatedProcess) => Promise<Answer>,
    onAnswer: (answer: Answer) => void,
  ): void {
    const process = this.dependencies.anyProcess();
    const waiting = { process };
    this.#waitsFor = waiting;
    const receive = (conclude: () => void) => (): void => {
      this.dependencies.onActivity();
      if (this.#waitsFor !== waiting) return;
      this.#waitsFor = null;
      conclude();
    };
    runAs(process.host, async () => ask(process)).then(
      (answer) => receive(() => onAnswer(answer))(),
      (error: unknown) =>
        receive(() => {
          if (!(error instanceof Refusal) && !isDatabaseUnavailable(error)) this.dependencies.ledger.fail(error);
        })(),
    );
  }

  protected command<Name extends CommandName>(
    command: RequestedCommand<Name>,
    onAnswer: (answer: Commands[Name]['answer']) => void,
  ): void {
    const { account } = this.dependencies;
    this.request(async ({ turns }) => turns.run<Name>(account.id, command), onAnswer);
  }
}

/** A visitor: enters queues, leaves them, and writes messages once engaged. */
export class SimulatedVisitor extends Client {
  readonly id: VisitorId;
  /** The ticket that was requested last; the answer may have been lost. */
  #ticketId: TicketId | null = null;
  #isAnswered = true;
  #messages = 0;
  /** The message that was sent last, if its answer was lost. */
  #unanswered: NewMessage | null = null;

  constructor(index: number, id: VisitorId, dependencies: ClientDependencies) {
    super(`visitor ${index}`, dependencies);
    this.id = id;
  }

  protected actions(): Action[] {
    const engagementId = this.dependencies.ledger.engagementOf(this.id);
    const ticketId = this.#ticketId;
    const unanswered = this.#unanswered;
    return [
      { what: 'enters a queue', run: () => this.#enqueue(newId()), weight: ticketId === null ? 1 : 0.1 },
      ...(ticketId === null
        ? []
        : [
            { what: 'repeats a request', run: () => this.#enqueue(ticketId), weight: this.#isAnswered ? 0.15 : 1 },
            { what: 'leaves the queue', run: () => this.#cancel(ticketId), weight: 0.03 },
          ]),
      ...(engagementId === null
        ? []
        : [
            { what: 'sends a message', run: () => this.#say(engagementId), weight: 2 },
            { what: 'ends', run: () => this.#end(engagementId), weight: 0.2 },
          ]),
      ...(unanswered === null ? [] : [{ what: 'repeats a message', run: () => this.#send(unanswered), weight: 2 }]),
    ];
  }

  #enqueue(id: TicketId): void {
    const { account, ledger, random } = this.dependencies;
    this.#ticketId = id;
    this.#isAnswered = false;
    const queueIds = random.chance(0.5) ? null : [random.pick(account.queues)];
    this.command<'enqueue'>(
      {
        name: 'enqueue',
        id,
        repeatable: true,
        siteId: account.siteId,
        visitorId: this.id,
        medium: 'text',
        queueIds,
        requiredTeams: [],
        notes,
        address: null,
      },
      // A repeated request is answered with `null`: the ticket exists.
      (answer) => {
        this.#isAnswered = true;
        ledger.tickets.add(answer?.ticket.id ?? id);
      },
    );
  }

  #cancel(ticketId: TicketId): void {
    const { ledger } = this.dependencies;
    this.command<'cancelTicket'>({ name: 'cancelTicket', ticketId, kind: 'visitor', by: 'visitor' }, (answer) => {
      if (answer !== null) ledger.canceled.add(answer.id);
    });
  }

  #end(engagementId: EngagementId): void {
    const { ledger } = this.dependencies;
    const by = { kind: 'visitor', id: this.id } as const;
    this.command<'end'>({ name: 'end', engagementId, by, error: false }, (answer) => {
      if (answer !== null) ledger.ended.add(answer.id);
    });
  }

  #say(engagementId: EngagementId): void {
    this.#messages += 1;
    this.#send({
      accountId: this.dependencies.account.id,
      engagementId,
      id: newId<string>(),
      by: { kind: 'visitor', id: this.id },
      type: 'chat',
      content: String(this.#messages),
      attachment: null,
      metadata: null,
    });
  }

  #send(message: NewMessage): void {
    const { ledger } = this.dependencies;
    this.#unanswered = message;
    this.request(
      async ({ messages, host }) => messages.write(host.batchesSql, message),
      (stored) => {
        this.#unanswered = null;
        // A repeated message that was stored before is answered with `null`, and so is a refused one.
        if (stored !== null) ledger.messages.add(message.id);
      },
    );
  }
}

/** An operator: comes and goes, looks for offers, answers them, and ends engagements. */
export class SimulatedOperator extends Client {
  readonly id: OperatorId;
  #offers: readonly Offer[] = [];

  constructor(index: number, id: OperatorId, dependencies: ClientDependencies) {
    super(`operator ${index}`, dependencies);
    this.id = id;
  }

  protected actions(): Action[] {
    const { random, ledger } = this.dependencies;
    const engagements = ledger.engagementsOf(this.id);
    return [
      { what: 'sets presence', run: () => this.#setPresence(random.chance(0.8)), weight: 0.2 },
      { what: 'looks', run: () => this.#look() },
      ...(this.#offers.length === 0
        ? []
        : [
            { what: 'accepts', run: () => this.#answer(random.pick(this.#offers), 'accept'), weight: 4 },
            { what: 'declines', run: () => this.#answer(random.pick(this.#offers), 'decline'), weight: 0.3 },
          ]),
      ...(engagements.length === 0
        ? []
        : [
            { what: 'ends', run: () => this.#end(random.pick(engagements)), weight: 0.3 },
            { what: 'transfers', run: () => this.#transfer(random.pick(engagements)), weight: 1 },
          ]),
    ];
  }

  #setPresence(available: boolean): void {
    this.command<'setPresence'>(
      { name: 'setPresence', operatorId: this.id, available, media: mediaSet(['text']), leaseMs: null, reason: null },
      () => undefined,
    );
  }

  #look(): void {
    this.command<'viewRequests'>({ name: 'viewRequests', operatorId: this.id }, (requests) => {
      this.#offers = requests;
    });
  }

  #answer(offer: Offer, action: 'accept' | 'decline'): void {
    const { ledger } = this.dependencies;
    const { id: requestId, kind } = offer;
    this.#offers = this.#offers.filter((each) => each !== offer);
    const answer = { requestId, action, by: { kind: 'operator', id: this.id }, error: null } as const;
    const onAnswer = (request: Commands['answer']['answer']): void => {
      if (request !== null)
        ledger.answered.set(requestId, { state: request.state, engagementId: request.engagementId });
    };
    if (kind === 'transfer') this.command<'answerTransfer'>({ name: 'answerTransfer', ...answer }, onAnswer);
    else this.command<'answer'>({ name: 'answer', ...answer }, onAnswer);
  }

  #transfer(engagementId: EngagementId): void {
    const { account, random } = this.dependencies;
    const operatorId = random.pick(account.operators);
    this.command<'transferToOperator'>(
      { name: 'transferToOperator', id: newId(), engagementId, by: this.id, operatorId, medium: null, notes },
      () => undefined,
    );
  }

  #end(engagementId: EngagementId): void {
    const { ledger } = this.dependencies;
    const by = { kind: 'operator', id: this.id } as const;
    this.command<'end'>({ name: 'end', engagementId, by, error: false }, (answer) => {
      if (answer !== null) ledger.ended.add(answer.id);
    });
  }
}
