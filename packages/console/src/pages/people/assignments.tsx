import { Button, Fieldset, Group, MultiSelect, Select, Stack, Text } from '@mantine/core';
import { roles } from '@usher/contract/roles';
import type { ReactElement } from 'react';
import type { Faults } from '../../components/faults.ts';
import { useMe } from '../../data/use-me.ts';
import { roleMeanings, roleNames, type Assignment } from './person.ts';
import { byId, useTeams } from './use-people.ts';

interface Props {
  readonly assignments: readonly Assignment[];
  readonly onChange: (assignments: readonly Assignment[]) => void;
  readonly faults: Faults;
  readonly readOnly: boolean;
}

/** On which sites somebody works, as what, and in which teams. */
export function Assignments({ assignments, onChange, faults, readOnly }: Props): ReactElement {
  const me = useMe();
  const sites = byId(me.sites);
  const taken = new Set(assignments.map(({ site_id }) => site_id));
  const free = me.sites.filter(({ id }) => !taken.has(id) && me.can('super_manager', id));
  return (
    <Stack gap="sm">
      {assignments.map((assignment, index) => (
        <SiteAssignment
          key={assignment.site_id}
          name={sites.get(assignment.site_id)?.name ?? 'A site that you do not see'}
          assignment={assignment}
          fault={faults(`/assignments/${index}`)}
          readOnly={readOnly}
          onChange={(changed) => onChange(assignments.with(index, changed))}
          onRemove={() => onChange(assignments.toSpliced(index, 1))}
        />
      ))}
      {assignments.length === 0 ? (
        <Text size="sm" c="dimmed">
          On no site: nobody can see or change them any more but by the API.
        </Text>
      ) : null}
      {readOnly || free.length === 0 ? null : (
        <Select
          label="Add to a site"
          placeholder="Choose a site"
          searchable
          maw={320}
          value={null}
          data={free.map(({ id, name }) => ({ value: id, label: name }))}
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
          label="Role"
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
          label="Teams"
          placeholder={
            assignment.team_ids.length > 0 || readOnly ? '' : teams.length === 0 ? 'The site has none' : 'None'
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
            aria-label={`Take away ${name}`}
          >
            Take away
          </Button>
        )}
      </Group>
    </Fieldset>
  );
}
