import { Checkbox, Code, Group, PasswordInput, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import type { ReactElement } from 'react';
import { RichText } from '../../../components/rich-text.tsx';
import type { Faults } from '../../../components/faults.ts';
import type { Input } from '../channels/channel.ts';
import { channelNamed, type ChannelDrafts } from '../channels/channels.ts';
import { texts } from '../texts.ts';
import { HeaderFields } from './header-fields.tsx';

interface Props {
  readonly draft: ChannelDrafts;
  readonly set: (part: Partial<ChannelDrafts>) => void;
  readonly faults: Faults;
}

/** The destination: the inputs of the channel and the resulting URL. */
export function DestinationFields({ kind, draft, set, faults }: Props & { readonly kind: string }): ReactElement {
  const channel = channelNamed(kind);
  const url = channel.urlOf?.(draft) ?? '';
  const isUrlShown = channel.inputs.flat().some(({ pointer }) => pointer === '/url');
  const urlFault = isUrlShown ? undefined : faults('/url');
  return (
    <Stack gap="sm">
      {channel.inputs.map((row) => (
        <Row key={row[0]?.pointer} row={row} draft={draft} set={set} faults={faults} />
      ))}
      {url === '' ? null : (
        <Text size="sm" c="dimmed">
          <RichText text={texts.urlInApi} values={{ url: <Code className="user-text">{url}</Code> }} />
        </Text>
      )}
      {urlFault === undefined ? null : (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {texts.url(urlFault)}
        </Text>
      )}
    </Stack>
  );
}

function Row({ row, draft, ...props }: Props & { readonly row: readonly Input<ChannelDrafts>[] }): ReactElement | null {
  const shown = row.filter((input) => input.isShown?.(draft) ?? true);
  const fields = shown.map((input) => <Field key={input.pointer} input={input} draft={draft} {...props} />);
  if (shown.length <= 1) return fields[0] ?? null;
  if (shown.some((input) => 'width' in input))
    return (
      <Group gap="xs" align="flex-start" wrap="nowrap">
        {fields}
      </Group>
    );
  return <SimpleGrid cols={{ base: 1, sm: 2 }}>{fields}</SimpleGrid>;
}

const order = ['label', 'input', 'description', 'error'] as const;

function Field({ input, draft, set, faults }: Props & { readonly input: Input<ChannelDrafts> }): ReactElement {
  const { label, description, pointer } = input;
  const error = faults(pointer);
  switch (input.type) {
    case 'text':
    case 'password': {
      const Text = input.type === 'text' ? TextInput : PasswordInput;
      return (
        <Text
          label={label}
          description={description}
          inputWrapperOrder={[...order]}
          placeholder={input.placeholder}
          {...(input.isUrl === true ? { inputMode: 'url' } : {})}
          autoComplete="off"
          spellCheck={false}
          required
          value={input.get(draft)}
          error={error}
          onChange={(event) => set(input.set(event.currentTarget.value, draft))}
          flex={1}
        />
      );
    }
    case 'choice':
      return (
        <Select
          label={label}
          description={description}
          data={[...input.options(draft)]}
          value={input.get(draft)}
          onChange={(value) => set(input.set(value ?? '', draft))}
          allowDeselect={false}
          error={error}
          {...(input.width === undefined ? {} : { w: input.width, flex: 'none' })}
        />
      );
    case 'checkbox':
      return (
        <Checkbox
          label={label}
          description={description}
          checked={input.get(draft)}
          onChange={(event) => set(input.set(event.currentTarget.checked, draft))}
          mt={{ base: 0, sm: 28 }}
        />
      );
    case 'headers':
      return (
        <HeaderFields value={input.get(draft)} onChange={(headers) => set(input.set(headers, draft))} faults={faults} />
      );
  }
}
