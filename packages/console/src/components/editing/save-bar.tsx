import { Button, Group, Paper, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import classes from '../save-bar.module.css';
import { texts } from '../texts.ts';
import type { Editing } from './use-editing.ts';

interface Props<Fields> {
  readonly editing: Editing<Fields>;
  /** `Save`, `Create`. */
  readonly label: string;
  /** Whether the form has an error that the server would refuse. */
  readonly blocked?: boolean;
}

/** A bar at the foot of the window while there are unsaved changes, so that they can be saved from anywhere. */
export function SaveBar<Fields>({ editing, label, blocked = false }: Props<Fields>): ReactElement | null {
  if (!editing.isChanged) return null;
  return (
    <Paper withBorder shadow="sm" px="md" py="xs" mt="lg" className={classes['bar']}>
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" c="dimmed" component="output">
          {texts.unsavedChanges}
        </Text>
        <Group gap="xs" wrap="nowrap">
          <Button variant="default" onClick={editing.discard}>
            {texts.discard}
          </Button>
          <Button disabled={blocked} loading={editing.saving} onClick={editing.submit}>
            {label}
          </Button>
        </Group>
      </Group>
    </Paper>
  );
}
