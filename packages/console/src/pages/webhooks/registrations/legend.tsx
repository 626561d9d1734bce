import { Text } from '@mantine/core';
import type { ReactElement } from 'react';

/** What a group of fields is called, as the library calls single ones. */
export function Legend({ children }: { readonly children: string }): ReactElement {
  return (
    <Text span size="sm" fw={600}>
      {children}
    </Text>
  );
}
