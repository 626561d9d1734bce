import { Box, Button, CopyButton, Group } from '@mantine/core';
import { useState, type ReactElement } from 'react';
import classes from './long-text.module.css';
import { texts } from './texts.ts';

/** Characters shown before the text is expanded. */
const cutAt = 1_500;

/** Foreign content as plain text; long content is collapsed. */
export function LongText({ text, label }: { readonly text: string; readonly label: string }): ReactElement {
  const [all, showAll] = useState(false);
  const isLong = text.length > cutAt;
  return (
    <>
      {/* Reachable by the keyboard, as it scrolls. */}
      <Box component="section" tabIndex={0} aria-label={label} mah={all ? 520 : 320} className={classes['text']}>
        {isLong && !all ? `${text.slice(0, cutAt)}…` : text}
      </Box>
      <Group gap="xs" mt={6}>
        {isLong ? (
          <Button size="compact-xs" variant="default" onClick={() => showAll(!all)} aria-expanded={all}>
            {all ? texts.showLess : texts.showAllCharacters(text.length.toLocaleString())}
          </Button>
        ) : null}
        <CopyText text={text} what={label} />
      </Group>
    </>
  );
}

function CopyText({ text, what }: { readonly text: string; readonly what: string }): ReactElement {
  return (
    <CopyButton value={text} timeout={2_000}>
      {({ copied, copy }) => (
        <Button size="compact-xs" variant="default" onClick={copy} aria-label={texts.copyLabel(what)}>
          {copied ? texts.copied : texts.copy}
        </Button>
      )}
    </CopyButton>
  );
}
