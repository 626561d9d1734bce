import { useLocalStorage } from '@mantine/hooks';
import { defaultServiceLevelSec } from '@usher/contract/limits';

/**
 * The service level target in seconds: within how long visitors are to be answered. It is chosen with the statistics of the
 * day and kept in this browser; a wait beyond it is marked as long.
 */
export function useServiceLevel(): readonly [sec: number, choose: (sec: number) => void] {
  const [stored, store] = useLocalStorage({
    key: 'usher-service-level',
    defaultValue: defaultServiceLevelSec,
    getInitialValueInEffect: false,
  });
  return [Number.isFinite(stored) ? stored : defaultServiceLevelSec, store];
}
