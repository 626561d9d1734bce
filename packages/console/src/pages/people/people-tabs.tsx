import { Tabs } from '@mantine/core';
import type { ReactElement } from 'react';
import { useLocation } from 'wouter';

/** The two lists of the page. */
export function PeopleTabs({ shown }: { readonly shown: 'people' | 'teams' }): ReactElement {
  const [, navigate] = useLocation();
  return (
    <Tabs
      value={shown}
      onChange={(value) => navigate(value === 'teams' ? '/people/teams' : '/people')}
      activateTabWithKeyboard={false}
      mb="md"
    >
      <Tabs.List aria-label="People and teams">
        <Tabs.Tab value="people">Operators</Tabs.Tab>
        <Tabs.Tab value="teams">Teams</Tabs.Tab>
      </Tabs.List>
    </Tabs>
  );
}
