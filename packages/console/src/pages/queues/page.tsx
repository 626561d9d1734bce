import type { ReactElement } from 'react';
import { Route, Switch } from 'wouter';
import { NewQueue, QueueEditor } from './editor.tsx';
import { QueueList } from './list.tsx';

export function QueuesPage(): ReactElement {
  return (
    <Switch>
      <Route path="/queues/new">
        <NewQueue />
      </Route>
      <Route path="/queues/:id">{({ id }) => <QueueEditor key={id} id={id} />}</Route>
      <Route>
        <QueueList />
      </Route>
    </Switch>
  );
}
