import { Alert, Button, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { maxPasswordLength } from '@usher/contract/limits';
import { useState, type ReactElement } from 'react';
import { ProblemNote } from '../../components/problem.tsx';
import { useChange } from '../../data/use-api.ts';
import { useMe } from '../../data/use-me.ts';

/** A new password ends every other session. */
export function PasswordForm(): ReactElement {
  const has = useMe().operator.sign_in.password;
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
        change.mutate({ body: { ...(has ? { current_password: current } : {}), new_password: next } });
      }}
    >
      <Stack gap="sm" maw={420}>
        <Title order={2} size="h4" id="password">
          Password
        </Title>
        {has ? (
          <PasswordInput
            label="Present password"
            autoComplete="current-password"
            required
            value={current}
            onChange={(event) => setCurrent(event.currentTarget.value)}
          />
        ) : (
          <Text size="sm">You have none yet. With one you can sign in by your e-mail address.</Text>
        )}
        <PasswordInput
          label="New password"
          description="12 characters or more. Every other session ends."
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
            <output>The password is changed.</output>
          </Alert>
        ) : null}
        <Button type="submit" loading={change.isPending} w="fit-content">
          {has ? 'Change password' : 'Set password'}
        </Button>
      </Stack>
    </form>
  );
}
