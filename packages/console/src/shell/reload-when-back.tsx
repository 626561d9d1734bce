import { Button, Text } from '@mantine/core';
import { useEffect, type ReactElement } from 'react';
import { needsReloadConfirmation } from '../components/editing/unsaved-changes.ts';
import { storageOf } from '../data/browser-storage.ts';
import { pathPrefix } from '../path-prefix.ts';
import { texts } from './texts.ts';

const pollMs = 1_500;
/** A page that fails again immediately is not reloaded automatically. */
const minReloadIntervalMs = 60_000;
const reloadedKey = 'usher-reloaded-at';

/** Reloads the page when the server is back, automatically unless something would be lost. */
export function ReloadWhenBack(): ReactElement {
  useEffect(() => {
    let isStopped = false;
    const timer = setInterval(() => {
      if (
        needsReloadConfirmation() ||
        Date.now() - Number(storageOf('sessionStorage').getItem(reloadedKey)) < minReloadIntervalMs
      )
        return;
      void isServerUp().then((isUp) => {
        if (!isUp || isStopped) return;
        isStopped = true;
        storageOf('sessionStorage').setItem(reloadedKey, String(Date.now()));
        location.reload();
      });
    }, pollMs);
    return () => {
      isStopped = true;
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

async function isServerUp(): Promise<boolean> {
  return fetch(`${pathPrefix}/healthz`, { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
}
