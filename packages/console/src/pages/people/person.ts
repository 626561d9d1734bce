import type { Operator, Site, Team } from '@usher/sdk/api-types';
import type { Role } from '@usher/contract/roles';
import { texts } from './texts.ts';

export const roleNames: Readonly<Record<Role, string>> = {
  operator: texts.operator,
  manager: texts.manager,
  super_manager: texts.superManager,
};

export const roleMeanings: Readonly<Record<Role, string>> = {
  operator: texts.operatorMeaning,
  manager: texts.managerMeaning,
  super_manager: texts.superManagerMeaning,
};

export interface Assignment {
  readonly site_id: string;
  readonly role: Role;
  readonly team_ids: readonly string[];
}

/** The draft of an operator. */
export interface PersonDraft {
  readonly name: string;
  readonly email: string;
  /** Empty: visitors see the name. */
  readonly display_name: string;
  readonly max_engagement_count: number;
  readonly assignments: readonly Assignment[];
}

export function draftOf({ name, email, display_name, max_engagement_count, assignments }: Operator): PersonDraft {
  return { name, email, display_name: display_name === name ? '' : display_name, max_engagement_count, assignments };
}

export function newDraft(siteId: string | null): PersonDraft {
  const assignments: Assignment[] = siteId === null ? [] : [{ site_id: siteId, role: 'operator', team_ids: [] }];
  return { name: '', email: '', display_name: '', max_engagement_count: 3, assignments };
}

/** How the operator signs in. */
export function describeSignIn({ password, invited_until }: Operator['sign_in']): string {
  if (password && invited_until !== null) return texts.passwordInvitationPending;
  if (password) return texts.password;
  return invited_until === null ? texts.notInvited : texts.invited;
}

export const visibilities = ['enabled', 'available', 'disabled', 'all'] as const;
export type Visibility = (typeof visibilities)[number];

export interface PeopleFilter {
  readonly text: string;
  readonly siteIds: readonly string[];
  readonly teamId: string | null;
  readonly show: Visibility;
}

/** Filters operators and sorts them by name. */
export function filterPeople(people: readonly Operator[], filter: PeopleFilter): Operator[] {
  const searchWords = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const sites = new Set(filter.siteIds);
  const isShown: Readonly<Record<Visibility, (person: Operator) => boolean>> = {
    enabled: ({ enabled }) => enabled,
    available: ({ available }) => available,
    disabled: ({ enabled }) => !enabled,
    all: () => true,
  };
  return people
    .filter((person) => {
      const text = `${person.name} ${person.email}`.toLowerCase();
      return (
        isShown[filter.show](person) &&
        searchWords.every((word) => text.includes(word)) &&
        person.assignments.some(
          ({ site_id, team_ids }) => sites.has(site_id) && (filter.teamId === null || team_ids.includes(filter.teamId)),
        )
      );
    })
    .toSorted((one, other) => one.name.localeCompare(other.name) || one.id.localeCompare(other.id));
}

/** `Manager at Shop (Sales, Support)`, as far as the reader knows the site. */
export function describeAssignment(
  { site_id, role, team_ids }: Assignment,
  sites: ReadonlyMap<string, Site>,
  teams: ReadonlyMap<string, Team>,
): string {
  const site = sites.get(site_id)?.name ?? texts.anotherSite;
  const names = team_ids.map((id) => teams.get(id)?.name ?? texts.anotherTeam);
  return names.length === 0
    ? texts.roleAtSite(roleNames[role], site)
    : texts.roleAtSiteInTeams(roleNames[role], site, names.join(', '));
}
