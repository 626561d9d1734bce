import type { ReactElement } from 'react';
import { Route, Switch } from 'wouter';
import { SitesList } from './list.tsx';
import { NewSite } from './new-site.tsx';
import { SitePage } from './site-page.tsx';

/** Sites, their settings and their tokens. */
export function SitesPage(): ReactElement {
  return (
    <Switch>
      <Route path="/sites/new">
        <NewSite />
      </Route>
      <Route path="/sites/:id">{({ id }) => <SitePage key={id} id={id} />}</Route>
      <Route>
        <SitesList />
      </Route>
    </Switch>
  );
}
