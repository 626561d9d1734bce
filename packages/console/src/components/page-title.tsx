import { Group, Title } from '@mantine/core';
import type { ReactElement, ReactNode } from 'react';
import { useTabTitle } from '../shell/tab-title.ts';
import { texts } from './texts.ts';

/** The heading of a page, with its actions at the right. */
export function PageTitle({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ReactNode;
}): ReactElement {
  useTabTitle(texts.documentTitle(title));
  return (
    <Group justify="space-between" mb="md" gap="sm">
      <Title order={1} size="h2" className="user-text" lineClamp={2} title={title}>
        {title}
      </Title>
      {children === undefined ? null : <Group gap="xs">{children}</Group>}
    </Group>
  );
}
