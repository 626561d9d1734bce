/** Every text of this folder in English. A translation is another file of the same shape. */
export const texts = {
  // invitation-page.tsx
  invitedAs: 'Hi {name}, you will sign in as {email}.',
  welcomeToUsher: 'Welcome to Usher',
  choosePassword: 'Choose a password',
  atLeast12Characters: 'At least 12 characters',
  setPasswordAndSignIn: 'Set password and sign in',

  // sign-in-again.tsx
  signInAgain: 'Sign in again',
  sessionExpired: 'Your session has expired. Your unsaved changes are kept.',

  // sign-in-form.tsx
  signInWith: 'Sign in with',
  emailAndPassword: 'E-mail and password',
  apiKey: 'API key',
  email: 'E-mail',
  keyId: 'Key ID',
  password: 'Password',
  keySecret: 'Key secret',
  signIn: 'Sign in',

  // sign-in-page.tsx
  signInHelp:
    'First time? Use the sign-in link from the terminal. Invited? Use the link you were sent. Developers: see the {link}.',
  apiReference: 'API reference',
  signInToUsher: 'Sign in to Usher',
  cookiesBlocked: 'Your browser blocks cookies',
  cookiesBlockedHelp:
    'You can sign in and work, but reloading the page signs you out. Allow cookies for this site to stay signed in.',
  signingIn: 'Signing in',
};
