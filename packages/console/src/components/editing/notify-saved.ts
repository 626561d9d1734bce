import { notifications } from '@mantine/notifications';

/** A notification that something was saved. It needs no action, so it lets clicks pass to what is below. */
export function notifySaved(message: string): void {
  notifications.show({ message, withCloseButton: false, style: { pointerEvents: 'none' } });
}
