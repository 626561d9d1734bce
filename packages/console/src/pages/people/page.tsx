import type { ReactElement } from 'react';
import { Route, Switch } from 'wouter';
import { PeopleList } from './list.tsx';
import { NewPerson } from './new-person.tsx';
import { PersonPage } from './person-page.tsx';
import { TeamsPage } from './teams.tsx';

/** Operators and teams. */
export function PeoplePage(): ReactElement {
  return (
    <Switch>
      <Route path="/people/teams">
        <TeamsPage />
      </Route>
      <Route path="/people/new">
        <NewPerson />
      </Route>
      <Route path="/people/:id">{({ id }) => <PersonPage key={id} id={id} />}</Route>
      <Route>
        <PeopleList />
      </Route>
    </Switch>
  );
}
