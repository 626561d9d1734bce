import { Button, Text } from '@mantine/core';
import { useEffect, type ReactElement } from 'react';
import { isHeld } from '../components/leaving.ts';
import { shelfOf } from '../data/browser-storage.ts';
import { texts } from './texts.ts';

const askMs = 1_500;
/** A page that fails again immediately is not reloaded automatically. */
const restMs = 60_000;
const reloadedKey = 'usher-reloaded-at';

/** Reloads the page when the server is back, automatically unless something would be lost. */
export function WhenBack(): ReactElement {
  useEffect(() => {
    let isOver = false;
    const timer = setInterval(() => {
      if (isHeld() || Date.now() - Number(shelfOf('sessionStorage').getItem(reloadedKey)) < restMs) return;
      void answers().then((yes) => {
        if (!yes || isOver) return;
        isOver = true;
        shelfOf('sessionStorage').setItem(reloadedKey, String(Date.now()));
        location.reload();
      });
    }, askMs);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, []);
  return (
    <>
      <Text size="sm" mt="xs">
        {texts.reloadsWhenBack}
      </Text>
      <Button mt="sm" display="block" onClick={() => location.reload()}>
        {texts.reload}
      </Button>
    </>
  );
}

async function answers(): Promise<boolean> {
  return fetch('/healthz', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
}
