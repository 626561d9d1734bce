import { Alert, Anchor, Center, Group, Image, Loader, Paper, Stack, Text, Title } from '@mantine/core';
import { useEffect, useState, type ReactElement, type ReactNode } from 'react';
import { RichText } from '../components/rich-text.tsx';
import { describeError } from '../components/describe-error.ts';
import icon from '../icon.svg';
import { pathPrefix } from '../path-prefix.ts';
import { SignInForm } from './sign-in-form.tsx';
import { texts } from './texts.ts';
import { useSession, useSessionState } from './use-session.ts';

/** A card in the middle of an empty page. */
export function CenteredCard({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ReactNode;
}): ReactElement {
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
    <CenteredCard title={texts.signInToUsher}>
      {!navigator.cookieEnabled && (
        <Alert color="yellow" title={texts.cookiesBlocked}>
          {texts.cookiesBlockedHelp}
        </Alert>
      )}
      <SignInForm />
      <Text size="sm" c="dimmed">
        <RichText
          text={texts.signInHelp}
          values={{ link: <Anchor href={`${pathPrefix}/docs`}>{texts.apiReference}</Anchor> }}
        />
      </Text>
    </CenteredCard>
  );
}

/** The page of the printed sign-in link. Its secret is in the fragment, which browsers do not send. */
export function LinkPage({ link, leave }: { readonly link: string; readonly leave: () => void }): ReactElement {
  const session = useSession();
  const { kind } = useSessionState();
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    // The operator signed in with the form below, after the link was refused.
    if (kind === 'in') leave();
  }, [kind, leave]);
  useEffect(() => {
    // Remove the secret from the address bar, so that it does not stay in the history.
    history.replaceState(null, '', location.pathname);
    session.signIn({ link }).catch((error: unknown) => setFailure(describeError(error)));
    // The link is single-use: it is sent once, whatever else changes.
    // oxlint-disable-next-line react/exhaustive-deps
  }, []);
  if (failure === null)
    return (
      <Center mih="100vh">
        <Loader aria-label={texts.signingIn} />
      </Center>
    );
  return (
    <CenteredCard title={texts.signInToUsher}>
      <Alert color="red" role="alert">
        {failure}
      </Alert>
      <SignInForm />
    </CenteredCard>
  );
}
