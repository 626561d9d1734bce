import { Button, Center, Loader, Stack, Text } from '@mantine/core';
import type { ReactElement, ReactNode } from 'react';

export function Loading(): ReactElement {
  return (
    <Center mih="20vh">
      <Loader aria-label="Loading" />
    </Center>
  );
}

/** Nothing here, and what to do about it. */
export function Empty({
  children,
  action,
}: {
  readonly children: ReactNode;
  readonly action?: ReactNode;
}): ReactElement {
  return (
    <Center mih="20vh">
      <Stack align="center" gap="sm" maw={420}>
        <Text c="dimmed" ta="center">
          {children}
        </Text>
        {action}
      </Stack>
    </Center>
  );
}

/** Filters leave nothing, while there is something: says so, and offers the way back. */
export function NoMatch({
  children,
  clear,
}: {
  readonly children: ReactNode;
  readonly clear: () => void;
}): ReactElement {
  return (
    <Empty
      action={
        <Button variant="default" size="xs" onClick={clear}>
          Clear filters
        </Button>
      }
    >
      {children}
    </Empty>
  );
}
