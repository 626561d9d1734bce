import '@mantine/dates/styles.css';
import { Text } from '@mantine/core';
import type { ReactElement } from 'react';
import { Route, Switch } from 'wouter';
import { PageTitle } from '../../components/page-title.tsx';
import { useMe } from '../../data/use-me.ts';
import { HoursEditor, NewHours } from './editor.tsx';
import { HoursList } from './list.tsx';
import { texts } from './texts.ts';

export function HoursPage(): ReactElement {
  const me = useMe();
  if (!me.can('super_manager'))
    return (
      <>
        <PageTitle title={texts.hours} />
        <Text>{texts.onlySuperManagers}</Text>
      </>
    );
  return (
    <Switch>
      <Route path="/hours/new">
        <NewHours />
      </Route>
      <Route path="/hours/:id">{({ id }) => <HoursEditor key={id} id={id} />}</Route>
      <Route>
        <HoursList />
      </Route>
    </Switch>
  );
}
