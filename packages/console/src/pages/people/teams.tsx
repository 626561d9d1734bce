import { Anchor, Group, Table, Text, VisuallyHidden } from '@mantine/core';
import type { Operator, Team } from '@usher/sdk/api-types';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { ConfirmButton } from '../../components/editing/confirm-button.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { Empty, Loading, NoneOnSite } from '../../components/states.tsx';
import { useChange } from '../../data/use-api.ts';
import { useMe } from '../../data/use-me.ts';
import classes from './people.module.css';
import { PeopleTabs } from './people-tabs.tsx';
import { EditTeam, NewTeam } from './team-dialogs.tsx';
import { texts } from './texts.ts';
import { byId, usePeople, useTeams } from './use-people.ts';

/** Members listed by name; the rest is counted. */
const maxNamedMembers = 12;

export function TeamsPage(): ReactElement {
  const me = useMe();
  const read = useTeams();
  const people = usePeople().data ?? [];
  const sites = byId(me.sites);
  const teams = (read.data ?? [])
    .filter(({ site_id }) => me.siteIds.includes(site_id))
    .toSorted((one, other) => one.name.localeCompare(other.name));
  return (
    <>
      <PageTitle title={texts.people}>{me.can('super_manager') ? <NewTeam /> : null}</PageTitle>
      <PeopleTabs shown="teams" />
      <ProblemNote error={read.error} title={texts.couldNotLoadPage} />
      {read.data === undefined ? (
        read.isError ? null : (
          <Loading />
        )
      ) : teams.length === 0 && read.data.length > 0 ? (
        <NoneOnSite what="teams" />
      ) : teams.length === 0 ? (
        <Empty>{texts.noTeamsYet}</Empty>
      ) : (
        <Table className={classes['list'] ?? ''}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{texts.team}</Table.Th>
              <Table.Th>{texts.site}</Table.Th>
              <Table.Th>{texts.members}</Table.Th>
              <Table.Th>
                <VisuallyHidden>{texts.actions}</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {teams.map((team) => (
              <TeamRow
                key={team.id}
                team={team}
                site={sites.get(team.site_id)?.name ?? ''}
                members={membersOf(team, people)}
              />
            ))}
          </Table.Tbody>
        </Table>
      )}
    </>
  );
}

function membersOf(team: Team, people: readonly Operator[]): Operator[] {
  return people
    .filter(({ assignments }) => assignments.some(({ team_ids }) => team_ids.includes(team.id)))
    .toSorted((one, other) => one.name.localeCompare(other.name));
}

interface RowProps {
  readonly team: Team;
  readonly site: string;
  readonly members: readonly Operator[];
}

function TeamRow({ team, site, members }: RowProps): ReactElement {
  const me = useMe();
  return (
    <Table.Tr>
      <Table.Td>
        <Text fw={600} className="user-text">
          {team.name}
        </Text>
        {team.description === null || team.description === '' ? null : (
          <Text size="xs" c="dimmed" className="user-text" lineClamp={3} title={team.description}>
            {team.description}
          </Text>
        )}
      </Table.Td>
      <Table.Td className="user-text">{site}</Table.Td>
      <Table.Td>
        {members.length === 0 ? (
          <Text size="sm" c="dimmed">
            {texts.noMembers}
          </Text>
        ) : (
          <Group gap={8}>
            {members.slice(0, maxNamedMembers).map(({ id, name }) => (
              <Anchor key={id} component={Link} href={`/people/${id}`} size="sm" className="user-text">
                {name}
              </Anchor>
            ))}
            {members.length > maxNamedMembers ? (
              <Text size="sm" c="dimmed">
                {texts.andMore(members.length - maxNamedMembers)}
              </Text>
            ) : null}
          </Group>
        )}
      </Table.Td>
      <Table.Td>
        {me.can('super_manager', team.site_id) ? (
          <Group gap="xs" justify="flex-end" wrap="nowrap">
            <EditTeam team={team} />
            <DeleteTeam team={team} members={members.length} />
          </Group>
        ) : null}
      </Table.Td>
    </Table.Tr>
  );
}

function DeleteTeam({ team, members }: { readonly team: Team; readonly members: number }): ReactElement {
  const remove = useChange('DELETE /teams/{team_id}', {
    refresh: ['GET /teams', 'GET /operators', 'GET /operators/{operator_id}'],
  });
  return (
    <ConfirmButton
      label={texts.delete}
      name={texts.deleteTeamNamed(team.name)}
      size="xs"
      question={texts.confirmDeleteTeam}
      busy={remove.isPending}
      error={remove.error}
      onClose={() => remove.reset()}
      onConfirm={(done) => remove.mutate({ path: { team_id: team.id } }, { onSuccess: done })}
    >
      <Text className="user-text">{team.name}</Text>
      <Text size="sm">{members === 0 ? texts.deleteEmptyTeam : texts.deleteTeamWithMembers(members)}</Text>
    </ConfirmButton>
  );
}
