import type { ReactElement } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { CataloguePage } from './catalogue/catalogue.tsx';
import { NewWebhook } from './registrations/new-webhook.tsx';
import { WebhookList } from './registrations/webhook-list.tsx';
import { WebhookPage } from './registrations/webhook-page.tsx';

/** Webhooks, their deliveries and the event catalogue. */
export function WebhooksPage(): ReactElement {
  return (
    <Switch>
      <Route path="/webhooks">
        <WebhookList />
      </Route>
      <Route path="/webhooks/new">
        <NewWebhook />
      </Route>
      <Route path="/webhooks/catalogue/:type?">{({ type }) => <CataloguePage type={type ?? null} />}</Route>
      <Route path="/webhooks/:id">
        {({ id }) => <WebhookPage key={id} id={id} tab="deliveries" deliveryId={null} />}
      </Route>
      <Route path="/webhooks/:id/:tab">
        {({ id, tab }) => <WebhookPage key={id} id={id} tab={tab} deliveryId={null} />}
      </Route>
      <Route path="/webhooks/:id/:tab/:delivery">
        {({ id, tab, delivery }) => <WebhookPage key={id} id={id} tab={tab} deliveryId={delivery} />}
      </Route>
      <Route>
        <Redirect to="/webhooks" replace />
      </Route>
    </Switch>
  );
}
