import {
  ActionIcon,
  Button,
  Fieldset,
  Group,
  Input,
  SegmentedControl,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { Cross2Icon, PlusIcon } from '@radix-ui/react-icons';
import { bytesOf } from '@usher/contract/bytes';
import { maxWelcomeBytes, welcomeFaults } from '@usher/contract/response-card';
import { useState, type ReactElement } from 'react';
import { withNumbers } from '../../components/with-numbers.ts';
import { cardIn, textOf, type Card } from './card.ts';
import { textField } from './fields.ts';
import { texts } from './texts.ts';
import { WelcomePreview } from './welcome-preview.tsx';

export const welcomeFields = { welcome_message: textField('welcome_message', texts.welcomeMessage) };

type Mode = 'text' | 'card' | 'json';

interface Props {
  readonly value: string;
  readonly fault: string | undefined;
  readonly onChange: (text: string) => void;
}

function modeOf(text: string): Mode {
  if (cardIn(text) === null) return 'text';
  return welcomeFaults(text).length === 0 ? 'card' : 'json';
}

const emptyOption = { text: '', value: '' };

/** The welcome message: text or a response card, as a form or as JSON, with a preview. */
export function WelcomeEditor({ value, fault, onChange }: Props): ReactElement {
  const [mode, setMode] = useState<Mode>(() => modeOf(value));
  const card = cardIn(value) ?? { content: value, image_url: '', options: [emptyOption] };
  const change = (next: Mode): void => {
    setMode(next);
    if (next === 'card' && cardIn(value) === null) onChange(textOf(card));
    if (next === 'text' && cardIn(value) !== null) onChange(card.content);
  };
  return (
    <Fieldset legend={texts.welcomeMessage}>
      <Stack>
        <Group justify="space-between">
          <SegmentedControl
            aria-label={texts.typeOfWelcomeMessage}
            value={mode}
            onChange={(next) => change(next)}
            data={[
              { value: 'text', label: texts.text },
              { value: 'card', label: texts.card },
              { value: 'json', label: 'JSON' },
            ]}
          />
          <Text
            size="xs"
            c={bytesOf(value) > maxWelcomeBytes ? 'var(--mantine-color-error)' : 'dimmed'}
            className="tabular"
          >
            {texts.bytesUsed(bytesOf(value).toLocaleString(), maxWelcomeBytes.toLocaleString())}
          </Text>
        </Group>
        {mode === 'card' ? (
          <CardFields card={card} onChange={(next) => onChange(textOf(next))} />
        ) : (
          <Textarea
            label={mode === 'json' ? texts.messageAsJson : texts.message}
            description={mode === 'json' ? texts.jsonHelp : texts.leaveEmptyToSendNone}
            autosize
            minRows={3}
            maxRows={16}
            value={value}
            error={fault}
            styles={mode === 'json' ? { input: { fontFamily: 'var(--mantine-font-family-monospace)' } } : {}}
            onChange={(event) => onChange(event.currentTarget.value)}
          />
        )}
        {mode === 'card' && fault !== undefined ? <Input.Error>{fault}</Input.Error> : null}
        <WelcomePreview text={value} />
      </Stack>
    </Fieldset>
  );
}

function CardFields({
  card,
  onChange,
}: {
  readonly card: Card;
  readonly onChange: (card: Card) => void;
}): ReactElement {
  const { options } = card;
  const setOption = (index: number, part: Partial<Card['options'][number]>): void =>
    onChange({ ...card, options: options.map((option, at) => (at === index ? { ...option, ...part } : option)) });
  return (
    <Stack gap="xs">
      <Textarea
        label={texts.cardText}
        autosize
        minRows={2}
        value={card.content}
        onChange={(event) => onChange({ ...card, content: event.currentTarget.value })}
      />
      <TextInput
        label={texts.imageUrl}
        placeholder="https://"
        value={card.image_url}
        onChange={(event) => onChange({ ...card, image_url: event.currentTarget.value })}
      />
      {withNumbers(options).map(({ number, index, element: option }) => (
        <Group key={number} gap="xs" align="flex-end" wrap="nowrap">
          <TextInput
            label={texts.option(index + 1)}
            flex={1}
            value={option.text}
            onChange={(event) => setOption(index, { text: event.currentTarget.value })}
          />
          <TextInput
            label={texts.optionValue(index + 1)}
            flex={1}
            value={option.value}
            onChange={(event) => setOption(index, { value: event.currentTarget.value })}
          />
          <ActionIcon
            variant="default"
            size={36}
            aria-label={texts.removeOption(index + 1)}
            onClick={() => onChange({ ...card, options: options.filter((_, at) => at !== index) })}
          >
            <Cross2Icon />
          </ActionIcon>
        </Group>
      ))}
      <Group>
        <Button
          size="xs"
          variant="default"
          leftSection={<PlusIcon />}
          onClick={() => onChange({ ...card, options: [...options, emptyOption] })}
        >
          {texts.addOption}
        </Button>
      </Group>
    </Stack>
  );
}
