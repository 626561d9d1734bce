import { Group, Stack, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import { withNumbers } from '../../components/with-numbers.ts';
import { cardIn } from './card.ts';
import classes from './queues.module.css';
import { texts } from './texts.ts';

/** The welcome message as the visitor will see it. An image of another host is named, not loaded. */
export function WelcomePreview({ text }: { readonly text: string }): ReactElement | null {
  if (text === '') return null;
  const { content, image_url, options } = cardIn(text) ?? { content: text, image_url: '', options: [] };
  return (
    <section aria-label={texts.messagePreview}>
      <Text size="xs" c="dimmed" mb={4}>
        {texts.messagePreview}
      </Text>
      <Stack gap="xs" className={classes['bubble']}>
        {image_url === '' ? null : (
          <Text size="xs" c="dimmed" lineClamp={2} title={image_url}>
            {texts.image(image_url)}
          </Text>
        )}
        <Text size="sm" className="user-text">
          {content}
        </Text>
        {options.length === 0 ? null : (
          <Group gap="xs">
            {withNumbers(options).map(({ number, element: { text: label } }) => (
              <Text key={number} size="sm" component="span" className={`${classes['option']} user-text`}>
                {label === '' ? '…' : label}
              </Text>
            ))}
          </Group>
        )}
      </Stack>
    </section>
  );
}
