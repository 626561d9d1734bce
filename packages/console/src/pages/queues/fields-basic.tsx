import { Fieldset, Group, NumberInput, SegmentedControl, Stack, Text, Textarea, TextInput } from '@mantine/core';
import type { ReactElement } from 'react';
import {
  field,
  omitEmpty,
  plainField,
  textField,
  textOrNone,
  parseNumber,
  type FieldsProps,
  type NumberDraft,
} from './fields.ts';
import { texts } from './texts.ts';

/** Both numbers are kept while the type changes; only the one of the type is sent. */
interface CapacityDraft {
  readonly type: 'fixed' | 'variable';
  readonly capacity: NumberDraft;
  readonly multiplier: NumberDraft;
}

export const basicFields = {
  name: plainField('name', { label: texts.name, initial: '', show: textOrNone }),
  description: textField('description', texts.description),
  capacity_policy: field<CapacityDraft>({
    label: texts.capacity,
    initial: { type: 'fixed', capacity: 10, multiplier: '' },
    read: ({ capacity_policy: { capacity, multiplier, type } }) => ({
      type,
      capacity: capacity ?? '',
      multiplier: multiplier ?? '',
    }),
    write: ({ type, capacity, multiplier }) => ({
      capacity_policy: {
        type,
        ...(type === 'fixed' ? omitEmpty('capacity', capacity) : omitEmpty('multiplier', multiplier)),
      },
    }),
    show: ({ type, capacity, multiplier }) => (type === 'fixed' ? `${capacity}` : texts.perOperator(multiplier)),
  }),
};

type Props = FieldsProps<typeof basicFields>;

export function NameFields({ draft, set, fault }: Props): ReactElement {
  return (
    <Stack>
      <TextInput
        label={texts.name}
        required
        value={draft.name}
        error={fault('/name')}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <Textarea
        label={texts.description}
        autosize
        maxRows={6}
        value={draft.description}
        error={fault('/description')}
        onChange={(event) => set({ description: event.currentTarget.value })}
      />
    </Stack>
  );
}

export function CapacityFields({ draft, set, fault }: Props): ReactElement {
  const policy = draft.capacity_policy;
  const change = (part: Partial<typeof policy>): void => set({ capacity_policy: { ...policy, ...part } });
  return (
    <Fieldset legend={texts.capacity}>
      <Group align="flex-start">
        <Stack gap={4}>
          <Text size="sm" fw={500} id="capacity-kind">
            {texts.type}
          </Text>
          <SegmentedControl
            aria-labelledby="capacity-kind"
            value={policy.type}
            onChange={(type) => change({ type: type === 'variable' ? 'variable' : 'fixed' })}
            data={[
              { value: 'fixed', label: texts.fixed },
              { value: 'variable', label: texts.perOperatorOption },
            ]}
          />
        </Stack>
        {policy.type === 'fixed' ? (
          <NumberInput
            label={texts.maxWaiting}
            flex={1}
            allowDecimal={false}
            min={0}
            clampBehavior="none"
            value={policy.capacity}
            error={fault('/capacity_policy')}
            onChange={(value) => change({ capacity: parseNumber(value) })}
          />
        ) : (
          <NumberInput
            label={texts.maxWaitingPerOperator}
            description={texts.maxWaitingPerOperatorHelp}
            flex={1}
            step={0.5}
            min={0}
            clampBehavior="none"
            value={policy.multiplier}
            error={fault('/capacity_policy')}
            onChange={(value) => change({ multiplier: parseNumber(value) })}
          />
        )}
      </Group>
    </Fieldset>
  );
}
