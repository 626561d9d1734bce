import { useLocalStorage } from '@mantine/hooks';
import { defaultServiceLevelSec } from '@usher/contract/limits';

/**
 * The service level target: visitors should be answered within this many seconds. It is set in the daily statistics and stored in
 * this browser; longer waits are marked.
 */
export function useServiceLevel(): readonly [sec: number, choose: (sec: number) => void] {
  const [stored, store] = useLocalStorage({
    key: 'usher-service-level',
    defaultValue: defaultServiceLevelSec,
    getInitialValueInEffect: false,
  });
  return [Number.isFinite(stored) ? stored : defaultServiceLevelSec, store];
}
