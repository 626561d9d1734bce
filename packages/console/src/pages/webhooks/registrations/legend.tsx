import { Text } from '@mantine/core';
import type { ReactElement } from 'react';

/** The label of a group of fields, styled like the label of a single field. */
export function Legend({ children }: { readonly children: string }): ReactElement {
  return (
    <Text span size="sm" fw={600}>
      {children}
    </Text>
  );
}
