import { notifications } from '@mantine/notifications';

/** Says that something was saved. There is nothing to do about it, so it takes no click from what it lies over. */
export function notifySaved(message: string): void {
  notifications.show({ message, withCloseButton: false, style: { pointerEvents: 'none' } });
}
