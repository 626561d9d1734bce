/** Every text of this page in English. A translation is another file of the same shape. */
export const texts = {
  // describe-device.ts
  unknownDevice: 'Unknown device',
  browserOnSystem: (browser: string, system: string) => `${browser} on ${system}`,

  // page.tsx
  yourAccount: 'Your account',

  // password-form.tsx
  password: 'Password',
  currentPassword: 'Current password',
  noPasswordSet: 'No password set. Set one to sign in with your e-mail address.',
  newPassword: 'New password',
  newPasswordHelp: 'At least 12 characters. Signs you out on all other devices.',
  passwordChanged: 'Password changed',
  changePassword: 'Change password',
  setPassword: 'Set password',

  // sessions.tsx
  sessions: 'Sessions',
  loading: 'Loading',
  browser: 'Browser',
  lastUsed: 'Last used',
  action: 'Action',
  thisDevice: 'This device',
  signOutDevice: (device: string) => `Sign out ${device}`,
  signOut: 'Sign out',
};
