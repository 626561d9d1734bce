import { Checkbox, Code, Group, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import type { ReactElement } from 'react';
import type { Faults } from '../../../components/faults.ts';
import { methods, type WebhookFields } from './fields.ts';
import { HeaderFields } from './header-fields.tsx';
import { pushUrl } from './rules.ts';

export interface FieldsProps {
  readonly fields: WebhookFields;
  readonly set: (part: Partial<WebhookFields>) => void;
  readonly faults: Faults;
}

/** Where requests go. */
export function HttpFields({ fields, set, faults }: FieldsProps): ReactElement {
  return (
    <>
      <Group gap="xs" align="flex-start" wrap="nowrap">
        <Select
          label="Method"
          data={[...methods]}
          value={fields.method}
          onChange={(method) => set({ method: method ?? 'POST' })}
          allowDeselect={false}
          error={faults('/method')}
          w={110}
          flex="none"
        />
        <TextInput
          label="URL"
          placeholder="https://example.com/usher"
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          required
          value={fields.url}
          error={faults('/url')}
          onChange={(event) => set({ url: event.currentTarget.value })}
          flex={1}
        />
      </Group>
      <HeaderFields value={fields.headers} onChange={(headers) => set({ headers })} faults={faults} />
    </>
  );
}

/** Which device, of which application. */
export function PushFields({ fields, set, faults }: FieldsProps): ReactElement {
  const { push } = fields;
  const change = (part: Partial<typeof push>): void => set({ push: { ...push, ...part } });
  const whole = faults('/url');
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TextInput
          label="Device token"
          autoComplete="off"
          spellCheck={false}
          required
          value={push.deviceToken}
          error={faults('/device_token')}
          onChange={(event) => change({ deviceToken: event.currentTarget.value })}
        />
        <TextInput
          label="Topic"
          description="The application's bundle id"
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          placeholder="com.example.App"
          autoComplete="off"
          spellCheck={false}
          required
          value={push.topic}
          error={faults('/topic')}
          onChange={(event) => change({ topic: event.currentTarget.value })}
        />
        <Select
          label="Environment of Apple's service"
          data={[
            { value: 'sandbox', label: 'Sandbox' },
            { value: 'production', label: 'Production' },
          ]}
          value={push.environment}
          onChange={(value) => change({ environment: value === 'production' ? 'production' : 'sandbox' })}
          allowDeselect={false}
        />
        <Checkbox
          label="Silent"
          description="The application is woken, and nothing is shown"
          checked={push.silent}
          onChange={(event) => change({ silent: event.currentTarget.checked })}
          mt={{ base: 0, sm: 28 }}
        />
      </SimpleGrid>
      {push.deviceToken === '' && push.topic === '' ? null : (
        <Text size="sm" c="dimmed">
          As the API spells it: <Code className="user-text">{pushUrl(push)}</Code>
        </Text>
      )}
      {whole === undefined ? null : (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          The address {whole}
        </Text>
      )}
    </Stack>
  );
}
