import { Badge, Button, Group, Modal, Radio, Stack, Table, Text } from '@mantine/core';
import { useState, type ReactElement, type ReactNode } from 'react';
import { ProblemNote } from '../problem.tsx';
import { texts } from '../texts.ts';
import { chooseAll, differences, defaultChoices, mergeVersions, type Choices, type Side } from './versions.ts';

/** The label of a field, and how its values are shown. */
export type FieldViews<Fields> = {
  readonly [Key in keyof Fields]: { readonly label: string; readonly show: (value: Fields[Key]) => ReactNode };
};

interface Props<Fields> {
  readonly what: keyof typeof texts.changedMeanwhile;
  readonly base: Fields;
  readonly mine: Fields;
  readonly theirs: Fields;
  readonly views: FieldViews<Fields>;
  readonly saving: boolean;
  readonly error: unknown;
  readonly onSave: (chosen: Fields) => void;
  readonly onClose: () => void;
}

const changers = { me: texts.changedByYou, them: texts.changedByThem, both: texts.changedByBoth } as const;

/** Resolves a conflict of two edits: shows both versions field by field, to choose from. */
export function ConflictDialog<Fields extends object>(props: Props<Fields>): ReactElement {
  const { what, base, mine, theirs, onClose, onSave, saving, error } = props;
  const found = differences(base, mine, theirs);
  const [choices, choose] = useState<Choices<Fields>>(() => defaultChoices(found));
  return (
    <Modal
      opened
      onClose={onClose}
      size="xl"
      closeButtonProps={{ 'aria-label': texts.close }}
      title={texts.changedMeanwhile[what]}
    >
      <Stack>
        <Text size="sm">{found.length === 0 ? texts.sameVersion : texts.chooseValues}</Text>
        {found.length === 0 ? null : (
          <>
            <Group gap="xs">
              <Button size="xs" variant="default" onClick={() => choose(chooseAll(found, 'mine'))}>
                {texts.keepAllMine}
              </Button>
              <Button size="xs" variant="default" onClick={() => choose(chooseAll(found, 'theirs'))}>
                {texts.keepAllTheirs}
              </Button>
            </Group>
            <Table verticalSpacing="xs" layout="fixed">
              <Table.Tbody>
                {found.map(({ key, changedBy }) => (
                  <Choice
                    key={key}
                    label={props.views[key].label}
                    changed={changers[changedBy]}
                    mine={props.views[key].show(mine[key])}
                    theirs={props.views[key].show(theirs[key])}
                    side={choices[key] ?? 'mine'}
                    onChoose={(side) => choose({ ...choices, [key]: side })}
                  />
                ))}
              </Table.Tbody>
            </Table>
          </>
        )}
        <ProblemNote error={error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {texts.keepEditing}
          </Button>
          <Button loading={saving} onClick={() => onSave(mergeVersions(mine, theirs, choices))}>
            {texts.saveChoices}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly changed: string;
  readonly mine: ReactNode;
  readonly theirs: ReactNode;
  readonly side: Side;
  readonly onChoose: (side: Side) => void;
}

function Choice({ label, changed, mine, theirs, side, onChoose }: ChoiceProps): ReactElement {
  const shown = { mine, theirs };
  return (
    <Table.Tr>
      <Table.Td>
        <Radio.Group label={label} value={side} onChange={(value) => onChoose(value === 'theirs' ? 'theirs' : 'mine')}>
          <Badge variant="default" size="sm" tt="none" mb={6}>
            {changed}
          </Badge>
          <Stack gap={6}>
            {(['mine', 'theirs'] as const).map((each) => (
              <Radio
                key={each}
                value={each}
                label={
                  <Text size="sm" component="span" className="user-text">
                    <b>{each === 'mine' ? texts.mine : texts.theirs} </b>
                    {shown[each]}
                  </Text>
                }
              />
            ))}
          </Stack>
        </Radio.Group>
      </Table.Td>
    </Table.Tr>
  );
}
