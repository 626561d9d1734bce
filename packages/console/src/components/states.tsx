import { Button, Center, Loader, Stack, Text } from '@mantine/core';
import type { ReactElement, ReactNode } from 'react';
import { useMe } from '../data/use-me.ts';
import { texts } from './texts.ts';

export function Loading(): ReactElement {
  return (
    <Center mih="20vh">
      <Loader aria-label={texts.loading} />
    </Center>
  );
}

/** An empty state, with an action. */
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

interface NoMatchProps {
  readonly children: ReactNode;
  readonly clear: () => void;
  readonly label?: string;
}

/** The filters match nothing: offers to clear them. */
export function NoMatch({ children, clear, label = texts.clearFilters }: NoMatchProps): ReactElement {
  return (
    <Empty
      action={
        <Button variant="default" size="xs" onClick={clear}>
          {label}
        </Button>
      }
    >
      {children}
    </Empty>
  );
}

/** The chosen site has none of these, while other sites have some. */
export function NoneOnSite({ what }: { readonly what: keyof typeof texts.noneOnSite }): ReactElement {
  const { chooseSite } = useMe();
  return (
    <NoMatch clear={() => chooseSite(null)} label={texts.showAllSites}>
      {texts.noneOnSite[what]}
    </NoMatch>
  );
}
