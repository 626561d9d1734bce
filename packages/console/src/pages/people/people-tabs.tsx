import { Tabs } from '@mantine/core';
import type { ReactElement } from 'react';
import { useLocation } from 'wouter';
import { texts } from './texts.ts';

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
      <Tabs.List aria-label={texts.peopleAndTeams}>
        <Tabs.Tab value="people">{texts.operators}</Tabs.Tab>
        <Tabs.Tab value="teams">{texts.teams}</Tabs.Tab>
      </Tabs.List>
    </Tabs>
  );
}
