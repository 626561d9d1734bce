import { Alert, Anchor, Center, Group, Image, Loader, Paper, Stack, Text, Title } from '@mantine/core';
import { useEffect, useState, type ReactElement, type ReactNode } from 'react';
import { RichText } from '../components/rich-text.tsx';
import { inWords } from '../components/in-words.ts';
import icon from '../icon.svg';
import { SignInForm } from './sign-in-form.tsx';
import { texts } from './texts.ts';
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
    <Entrance title={texts.signInToUsher}>
      {!navigator.cookieEnabled && (
        <Alert color="yellow" title={texts.cookiesBlocked}>
          {texts.cookiesBlockedHelp}
        </Alert>
      )}
      <SignInForm />
      <Text size="sm" c="dimmed">
        <RichText text={texts.signInHelp} values={{ link: <Anchor href="/docs">{texts.apiReference}</Anchor> }} />
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
        <Loader aria-label={texts.signingIn} />
      </Center>
    );
  return (
    <Entrance title={texts.signInToUsher}>
      <Alert color="red" role="alert">
        {failure}
      </Alert>
      <SignInForm />
    </Entrance>
  );
}
