import { Button, Fieldset, Group, MultiSelect, Select, Stack, Text } from '@mantine/core';
import { roles } from '@usher/contract/roles';
import type { ReactElement } from 'react';
import type { Faults } from '../../components/faults.ts';
import { useMe } from '../../data/use-me.ts';
import { roleMeanings, roleNames, type Assignment } from './person.ts';
import { texts } from './texts.ts';
import { byId, useTeams } from './use-people.ts';

interface Props {
  readonly assignments: readonly Assignment[];
  readonly onChange: (assignments: readonly Assignment[]) => void;
  readonly faults: Faults;
  readonly readOnly: boolean;
}

/** The sites of an operator, with role and teams. */
export function Assignments({ assignments, onChange, faults, readOnly }: Props): ReactElement {
  const me = useMe();
  const sites = byId(me.sites);
  const assigned = new Set(assignments.map(({ site_id }) => site_id));
  const assignable = me.sites.filter(({ id }) => !assigned.has(id) && me.can('super_manager', id));
  return (
    <Stack gap="sm">
      {assignments.map((assignment, index) => (
        <SiteAssignment
          key={assignment.site_id}
          name={sites.get(assignment.site_id)?.name ?? texts.siteWithoutAccess}
          assignment={assignment}
          fault={faults(`/assignments/${index}`)}
          readOnly={readOnly}
          onChange={(changed) => onChange(assignments.with(index, changed))}
          onRemove={() => onChange(assignments.toSpliced(index, 1))}
        />
      ))}
      {assignments.length === 0 ? (
        <Text size="sm" c="dimmed">
          {texts.noSites}
        </Text>
      ) : null}
      {readOnly || assignable.length === 0 ? null : (
        <Select
          label={texts.addToSite}
          placeholder={texts.selectSite}
          searchable
          maw={320}
          value={null}
          data={assignable.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={(id) => {
            if (id !== null) onChange([...assignments, { site_id: id, role: 'operator', team_ids: [] }]);
          }}
        />
      )}
    </Stack>
  );
}

interface SiteProps {
  readonly name: string;
  readonly assignment: Assignment;
  readonly fault: string | undefined;
  readonly readOnly: boolean;
  readonly onChange: (assignment: Assignment) => void;
  readonly onRemove: () => void;
}

function SiteAssignment({ name, assignment, fault, readOnly, onChange, onRemove }: SiteProps): ReactElement {
  const teams = (useTeams().data ?? []).filter(({ site_id }) => site_id === assignment.site_id);
  return (
    <Fieldset legend={<bdi>{name}</bdi>} p="sm">
      <Group align="flex-start" gap="sm">
        <Select
          label={texts.role}
          description={roleMeanings[assignment.role]}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          data={roles.map((value) => ({ value, label: roleNames[value] }))}
          value={assignment.role}
          onChange={(role) => onChange({ ...assignment, role: roles.find((each) => each === role) ?? 'operator' })}
          allowDeselect={false}
          readOnly={readOnly}
          w={200}
          error={fault}
        />
        <MultiSelect
          label={texts.teams}
          placeholder={
            assignment.team_ids.length > 0 || readOnly ? '' : teams.length === 0 ? texts.noTeamsOnSite : texts.none
          }
          data={teams.map(({ id, name: label }) => ({ value: id, label }))}
          value={[...assignment.team_ids]}
          onChange={(team_ids) => onChange({ ...assignment, team_ids })}
          searchable
          hidePickedOptions
          readOnly={readOnly}
          flex={1}
          miw={200}
        />
        {readOnly ? null : (
          <Button
            variant="subtle"
            color="gray"
            mt={{ base: 0, sm: 25 }}
            onClick={onRemove}
            aria-label={texts.removeFrom(name)}
          >
            {texts.remove}
          </Button>
        )}
      </Group>
    </Fieldset>
  );
}
