import type { Operator, Team } from '@usher/client/api-types';
import { useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useEvery } from '../../data/use-every.ts';
import type { Me } from '../../data/use-me.ts';
import { useLive } from '../../live/use-live.ts';

/** The feed reports availability, but no names and teams, so those are polled. */
const readAgainMs = 10_000;

/** The operators of the managed sites, with live availability. */
export function usePeople(): UseQueryResult<readonly Operator[]> {
  const client = useQueryClient();
  useLive(['operator.state'], ({ data }) => {
    const now = data as Operator;
    client.setQueriesData<readonly Operator[]>({ queryKey: ['GET /operators'] }, (people) => {
      if (!Array.isArray(people)) return people;
      if (people.some(({ id }) => id === now.id)) return people.map((each) => (each.id === now.id ? now : each));
      return [...people, now];
    });
  });
  return useEvery(
    'GET /operators',
    { query: { include_offline: true, include_disabled: true } },
    ({ operators }) => operators,
    { refetchInterval: readAgainMs },
  );
}

export function useTeams(): UseQueryResult<readonly Team[]> {
  return useEvery('GET /teams', {}, ({ teams }) => teams, { refetchInterval: readAgainMs });
}

/** The server's rule: only super managers of all sites of an operator can change them. */
export function mayChange(me: Me, { assignments }: Pick<Operator, 'assignments'>): boolean {
  return me.can('super_manager') && assignments.every(({ site_id }) => me.can('super_manager', site_id));
}

export function byId<Thing extends { readonly id: string }>(things: readonly Thing[]): ReadonlyMap<string, Thing> {
  return new Map(things.map((thing) => [thing.id, thing]));
}
