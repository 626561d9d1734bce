import type { ReactElement, ReactNode } from 'react';
import { isOpen, isUnattended } from '../../../components/queue-status.ts';
import { texts } from '../texts.ts';
import { useBoard, useTopic } from '../use-board.ts';
import { operatorState } from '../labels.ts';
import classes from './now.module.css';
import { Warning, WaitTime } from './wait-time.tsx';

/** Six totals of the board. */
export function Totals(): ReactElement {
  const { store } = useBoard();
  useTopic('queues');
  useTopic('tickets');
  useTopic('engagements');
  useTopic('operators');
  const waiting = store.tickets(null).length;
  const longestSince = store.longestSince(null);
  const people = store.operators();
  const states = people.map((operator) => operatorState(operator, store.load(operator.id)));
  const count = (...counted: readonly string[]): number => states.filter((state) => counted.includes(state)).length;
  const queues = [...store.queues.values()];
  return (
    <dl className={classes['totals']} aria-label={texts.now}>
      <Figure name={texts.waiting}>
        {queues.some(isUnattended) ? (
          <Warning title={texts.visitorsWaitUnattended} text={texts.someUnattendedLabel}>
            {waiting}
          </Warning>
        ) : (
          waiting
        )}
      </Figure>
      <Figure name={texts.longestWait}>{longestSince === null ? '–' : <WaitTime since={longestSince} />}</Figure>
      <Figure name={texts.conversations}>{store.engagements().length}</Figure>
      <Figure name={texts.online}>
        {count('free', 'busy', 'full')} <small>{texts.outOf(people.length)}</small>
      </Figure>
      <Figure name={texts.available}>{count('free')}</Figure>
      <Figure name={texts.queuesOpen}>
        {queues.filter(isOpen).length} <small>{texts.outOf(queues.length)}</small>
      </Figure>
    </dl>
  );
}

function Figure({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactElement {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
