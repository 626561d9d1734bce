import { Alert, Button, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { maxPasswordLength } from '@usher/contract/limits';
import { useState, type ReactElement } from 'react';
import { ProblemNote } from '../../components/problem.tsx';
import { useChange } from '../../data/use-api.ts';
import { useMe } from '../../data/use-me.ts';
import { texts } from './texts.ts';

/** Sets the password, which ends every other session. */
export function PasswordForm(): ReactElement {
  const hasPassword = useMe().operator.sign_in.password;
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const change = useChange('PUT /operator_authentication/password', {
    refresh: ['GET /operator_authentication/sessions', 'GET /operators/{operator_id}'],
    onDone: () => {
      setCurrent('');
      setNext('');
    },
  });
  return (
    <form
      aria-labelledby="password"
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ body: { ...(hasPassword ? { current_password: current } : {}), new_password: next } });
      }}
    >
      <Stack gap="sm" maw={420}>
        <Title order={2} size="h4" id="password">
          {texts.password}
        </Title>
        {hasPassword ? (
          <PasswordInput
            label={texts.currentPassword}
            autoComplete="current-password"
            required
            value={current}
            onChange={(event) => setCurrent(event.currentTarget.value)}
          />
        ) : (
          <Text size="sm">{texts.noPasswordSet}</Text>
        )}
        <PasswordInput
          label={texts.newPassword}
          description={texts.newPasswordHelp}
          autoComplete="new-password"
          minLength={12}
          maxLength={maxPasswordLength}
          required
          value={next}
          onChange={(event) => setNext(event.currentTarget.value)}
        />
        <ProblemNote error={change.error} />
        {change.isSuccess ? (
          <Alert color="green">
            <output>{texts.passwordChanged}</output>
          </Alert>
        ) : null}
        <Button type="submit" loading={change.isPending} w="fit-content">
          {hasPassword ? texts.changePassword : texts.setPassword}
        </Button>
      </Stack>
    </form>
  );
}
