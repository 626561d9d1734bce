import type { ReactElement, ReactNode } from 'react';
import { Since } from '../../../components/since.tsx';
import { useBoard, useTopic } from '../use-board.ts';
import { stateOf } from '../words.ts';
import classes from './now.module.css';

/** The whole of it in five figures. */
export function Totals(): ReactElement {
  const { store } = useBoard();
  useTopic('queues');
  useTopic('tickets');
  useTopic('engagements');
  useTopic('operators');
  const { waiting, longestSince } = store.standing(null);
  const people = store.operators();
  const states = people.map((operator) => stateOf(operator, store.load(operator.id)));
  const count = (...wanted: readonly string[]): number => states.filter((state) => wanted.includes(state)).length;
  const queues = [...store.queues.values()];
  return (
    <dl className={classes['totals']} aria-label="Now">
      <Figure name="Waiting">{waiting}</Figure>
      <Figure name="Longest wait">{longestSince === null ? '–' : <Since at={longestSince} />}</Figure>
      <Figure name="Engaged">{store.engagements().length}</Figure>
      <Figure name="Operators there">
        {count('free', 'busy', 'full')} <small>of {people.length}</small>
      </Figure>
      <Figure name="Of these, free">{count('free')}</Figure>
      <Figure name="Queues open">
        {queues.filter(({ status }) => status === 'opened').length} <small>of {queues.length}</small>
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
