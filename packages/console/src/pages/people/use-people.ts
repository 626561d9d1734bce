import type { Operator, Team } from '@usher/sdk/api-types';
import { useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useAllPages } from '../../data/use-all-pages.ts';
import type { Me } from '../../data/use-me.ts';
import { useFeedItems } from '../../live/use-live-feed.ts';

/** The feed reports availability, but no names and teams, so those are polled. */
const pollMs = 10_000;

/** The operators of the managed sites, with live availability. */
export function usePeople(): UseQueryResult<readonly Operator[]> {
  const client = useQueryClient();
  useFeedItems(['operator.state'], ({ data }) => {
    const operator = data as Operator;
    client.setQueriesData<readonly Operator[]>({ queryKey: ['GET /operators'] }, (people) => {
      if (!Array.isArray(people)) return people;
      if (people.some(({ id }) => id === operator.id))
        return people.map((each) => (each.id === operator.id ? operator : each));
      return [...people, operator];
    });
  });
  return useAllPages(
    'GET /operators',
    { query: { include_offline: true, include_disabled: true } },
    ({ operators }) => operators,
    { refetchInterval: pollMs },
  );
}

export function useTeams(): UseQueryResult<readonly Team[]> {
  return useAllPages('GET /teams', {}, ({ teams }) => teams, { refetchInterval: pollMs });
}

/** The server's rule: only super managers of all sites of an operator can change them. */
export function mayChange(me: Me, { assignments }: Pick<Operator, 'assignments'>): boolean {
  return me.can('super_manager') && assignments.every(({ site_id }) => me.can('super_manager', site_id));
}

export function byId<Item extends { readonly id: string }>(items: readonly Item[]): ReadonlyMap<string, Item> {
  return new Map(items.map((item) => [item.id, item]));
}
