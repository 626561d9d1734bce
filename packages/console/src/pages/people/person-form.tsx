import { NumberInput, Stack, TextInput } from '@mantine/core';
import { maxEmailLength, maxEngagementsOfOperator, maxNameLength } from '@usher/contract/limits';
import type { ReactElement } from 'react';
import type { Faults } from '../../components/faults.ts';
import { Assignments } from './assignments.tsx';
import type { PersonDraft } from './person.ts';
import { texts } from './texts.ts';

interface Props {
  readonly draft: PersonDraft;
  readonly set: (part: Partial<PersonDraft>) => void;
  readonly faults: Faults;
  readonly readOnly: boolean;
}

/** The details of an operator. */
export function PersonForm({ draft, set, faults, readOnly }: Props): ReactElement {
  return (
    <Stack gap="sm" maw={640}>
      <TextInput
        label={texts.name}
        description={texts.nameHelp}
        required
        maxLength={maxNameLength}
        value={draft.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
        error={faults('/name')}
        readOnly={readOnly}
      />
      <TextInput
        label={texts.displayName}
        description={texts.displayNameHelp}
        placeholder={draft.name}
        maxLength={maxNameLength}
        value={draft.display_name}
        onChange={(event) => set({ display_name: event.currentTarget.value })}
        error={faults('/display_name')}
        readOnly={readOnly}
      />
      <TextInput
        label={texts.email}
        description={texts.emailHelp}
        type="email"
        required
        maxLength={maxEmailLength}
        value={draft.email}
        onChange={(event) => set({ email: event.currentTarget.value })}
        error={faults('/email')}
        readOnly={readOnly}
      />
      <NumberInput
        label={texts.maxConcurrentChats}
        description={texts.maxConcurrentChatsHelp}
        min={1}
        max={maxEngagementsOfOperator}
        clampBehavior="blur"
        allowDecimal={false}
        maw={160}
        value={draft.max_engagement_count}
        onChange={(value) => set({ max_engagement_count: Number(value) })}
        error={faults('/max_engagement_count')}
        readOnly={readOnly}
      />
      <Assignments
        assignments={draft.assignments}
        onChange={(assignments) => set({ assignments })}
        faults={faults}
        readOnly={readOnly}
      />
    </Stack>
  );
}
