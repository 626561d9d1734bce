import { Center, Loader, Stack, Text } from '@mantine/core';
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
