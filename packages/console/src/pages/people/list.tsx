import { Anchor, Button, Group, Select, Table, Text, TextInput } from '@mantine/core';
import { MagnifyingGlassIcon } from '@radix-ui/react-icons';
import type { Operator } from '@usher/sdk/api-types';
import { useDeferredValue, useState, type ReactElement } from 'react';
import { Link } from 'wouter';
import { PageTitle } from '../../components/page-title.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { Empty, Loading, NoMatch, NoneOnSite } from '../../components/states.tsx';
import { useMe } from '../../data/use-me.ts';
import { Availability } from './availability.tsx';
import classes from './people.module.css';
import { PeopleTabs } from './people-tabs.tsx';
import { describeAssignment, filterPeople, visibilities, describeSignIn, type Visibility } from './person.ts';
import { texts } from './texts.ts';
import { byId, usePeople, useTeams } from './use-people.ts';

const visibilityNames: Readonly<Record<Visibility, string>> = {
  enabled: texts.enabled,
  available: texts.availableNow,
  disabled: texts.disabled,
  all: texts.all,
};
/** Rows shown at first and added on demand. */
const pageSize = 100;

export function PeopleList(): ReactElement {
  const me = useMe();
  const people = usePeople();
  const teams = useTeams();
  const [text, setText] = useState('');
  const [teamId, setTeam] = useState<string | null>(null);
  const [show, setShow] = useState<Visibility>('enabled');
  const deferredText = useDeferredValue(text);
  const siteTeams = (teams.data ?? []).filter(({ site_id }) => me.siteIds.includes(site_id));
  const chosenTeam = siteTeams.some(({ id }) => id === teamId) ? teamId : null;
  const found = filterPeople(people.data ?? [], { text: deferredText, siteIds: me.siteIds, teamId: chosenTeam, show });
  return (
    <>
      <PageTitle title={texts.people}>
        {me.can('super_manager') ? (
          <Button component={Link} href="/people/new">
            {texts.addOperator}
          </Button>
        ) : null}
      </PageTitle>
      <PeopleTabs shown="people" />
      <Group mb="sm" gap="xs">
        <TextInput
          aria-label={texts.search}
          placeholder={texts.nameOrEmail}
          type="search"
          leftSection={<MagnifyingGlassIcon aria-hidden />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          className={classes['search'] ?? ''}
        />
        <Select
          aria-label={texts.team}
          placeholder={texts.allTeams}
          data={siteTeams.map(({ id, name }) => ({ value: id, label: name }))}
          value={chosenTeam}
          onChange={setTeam}
          clearable
          searchable
          clearButtonProps={{ 'aria-label': texts.allTeams }}
          w={180}
        />
        <Select
          aria-label={texts.show}
          data={visibilities.map((value) => ({ value, label: visibilityNames[value] }))}
          value={show}
          onChange={(value) => setShow(value ?? 'enabled')}
          allowDeselect={false}
          w={150}
        />
        <Text size="sm" c="dimmed" className="tabular" component="output">
          {people.data === undefined ? '' : texts.shownOf(found.length, people.data.length)}
        </Text>
      </Group>
      <ProblemNote error={people.error ?? teams.error} title={texts.couldNotLoadPage} />
      {people.data === undefined ? (
        people.isError ? null : (
          <Loading />
        )
      ) : found.length === 0 ? (
        <NoPeople
          isEmpty={people.data.length === 0}
          hasPeopleOnSite={
            filterPeople(people.data, { text: '', siteIds: me.siteIds, teamId: null, show: 'all' }).length > 0
          }
          clear={() => {
            setText('');
            setTeam(null);
            setShow('all');
          }}
        />
      ) : (
        <Rows key={`${show} ${chosenTeam}`} people={found} />
      )}
    </>
  );
}

interface NoPeopleProps {
  readonly isEmpty: boolean;
  /** Whether the chosen site has any operators, before filters. */
  readonly hasPeopleOnSite: boolean;
  readonly clear: () => void;
}

function NoPeople({ isEmpty, hasPeopleOnSite, clear }: NoPeopleProps): ReactElement {
  if (isEmpty) return <Empty>{texts.noPeopleYet}</Empty>;
  if (!hasPeopleOnSite) return <NoneOnSite what="people" />;
  return <NoMatch clear={clear}>{texts.noMatchingPeople}</NoMatch>;
}

function Rows({ people }: { readonly people: readonly Operator[] }): ReactElement {
  const me = useMe();
  const [maxShown, setMaxShown] = useState(pageSize);
  const sites = byId(me.sites);
  const teams = byId(useTeams().data ?? []);
  return (
    <>
      <Table className={classes['list'] ?? ''} highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.name}</Table.Th>
            <Table.Th>{texts.now}</Table.Th>
            <Table.Th>{texts.rolesAndTeams}</Table.Th>
            <Table.Th>{texts.signIn}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {people.slice(0, maxShown).map((person) => (
            <Table.Tr key={person.id}>
              <Table.Td>
                <Anchor component={Link} href={`/people/${person.id}`} className="user-text" fw={600}>
                  {person.name}
                </Anchor>
                <Text size="xs" c="dimmed" className="user-text">
                  {person.email}
                </Text>
              </Table.Td>
              <Table.Td>
                <Availability person={person} />
              </Table.Td>
              <Table.Td>
                {person.assignments.map((each) => (
                  <Text
                    key={each.site_id}
                    size="sm"
                    className="user-text"
                    lineClamp={2}
                    title={describeAssignment(each, sites, teams)}
                  >
                    {describeAssignment(each, sites, teams)}
                  </Text>
                ))}
              </Table.Td>
              <Table.Td>
                <Text size="sm">{describeSignIn(person.sign_in)}</Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {people.length > maxShown ? (
        <Button variant="default" mt="sm" onClick={() => setMaxShown(maxShown + pageSize)}>
          {texts.showMore}
        </Button>
      ) : null}
    </>
  );
}
