import { Alert, Anchor, Center, Group, Image, Loader, Paper, Stack, Text, Title } from '@mantine/core';
import { useEffect, useState, type ReactElement, type ReactNode } from 'react';
import { inWords } from '../components/in-words.ts';
import icon from '../icon.svg';
import { SignInForm } from './sign-in-form.tsx';
import { useSession, useSessionState } from './use-session.ts';

/** A sheet in the middle of an otherwise empty page. */
export function Entrance({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactElement {
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder radius="lg" p="xl" w="100%" maw={420}>
        <Stack>
          <Group gap="sm">
            <Image src={icon} w={32} h={32} alt="" />
            <Title order={1} size="h3">
              {title}
            </Title>
          </Group>
          {children}
        </Stack>
      </Paper>
    </Center>
  );
}

export function SignInPage(): ReactElement {
  return (
    <Entrance title="Sign in to Usher">
      {!navigator.cookieEnabled && (
        <Alert color="yellow" title="Your browser blocks cookies">
          You can sign in and work, but reloading the page signs you out. Allow cookies for this site to stay signed in.
        </Alert>
      )}
      <SignInForm />
      <Text size="sm" c="dimmed">
        The first link is printed when Usher starts. Others are invited under “People”. The API is described at{' '}
        <Anchor href="/docs">/docs</Anchor>.
      </Text>
    </Entrance>
  );
}

/** Where the printed link leads. Its secret stands behind the #, which browsers keep to themselves. */
export function LinkPage({ link, leave }: { readonly link: string; readonly leave: () => void }): ReactElement {
  const session = useSession();
  const { kind } = useSessionState();
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    // By the form below, after the link was refused.
    if (kind === 'in') leave();
  }, [kind, leave]);
  useEffect(() => {
    // Out of the address bar at once: it must not be kept in the history.
    history.replaceState(null, '', location.pathname);
    session.signIn({ link }).catch((error: unknown) => setFailure(inWords(error)));
    // The link works once: whatever else changes, it is not sent again.
    // oxlint-disable-next-line react/exhaustive-deps
  }, []);
  if (failure === null)
    return (
      <Center mih="100vh">
        <Loader aria-label="Signing in" />
      </Center>
    );
  return (
    <Entrance title="Sign in to Usher">
      <Alert color="red" role="alert">
        {failure}
      </Alert>
      <SignInForm />
    </Entrance>
  );
}
