import { plural } from '../components/plural.ts';

/** Every text of this folder in English. A translation is another file of the same shape. */
export const texts = {
  // account-menu.tsx
  system: 'System',
  light: 'Light',
  dark: 'Dark',
  couldNotSignOut: 'Could not sign out',
  accountOf: (name: string) => `Account of ${name}`,
  yourAccount: 'Your account',
  apiReference: 'API reference',
  signOut: 'Sign out',
  signOutEverywhere: 'Sign out everywhere',

  // availability.tsx
  available: 'Available',
  awayMissedOffer: 'Away: you missed an offer',
  away: 'Away',
  awayWithReason: (reason: string) => `Away: ${reason}`,

  // error-boundary.tsx
  couldNotLoadPage: 'Could not load this page',
  somethingWentWrong: 'Something went wrong',
  reload: 'Reload',

  // connection.tsx
  live: 'Live',
  liveHelp: 'This page updates in real time.',
  connecting: 'Connecting',
  connectingHelp: 'Connecting to the server…',
  reconnecting: 'Reconnecting',
  reconnectingHelp: "Reconnecting… you won't miss anything.",
  notLive: 'Not live',
  notLiveHelp: 'The server refused live updates. Reload the page.',

  // entry.tsx
  loading: 'Loading',
  cantReachServer: "Can't reach the server",
  serverMayBeStarting: 'The server may be starting. Retrying…',

  // frame.tsx
  menu: 'Menu',
  site: 'Site',
  allSites: 'All sites',
  pages: 'Pages',

  // offers.tsx
  offersWaiting: (count: number) =>
    plural(count, {
      one: `${count} offer. Alt A accepts, Alt D declines.`,
      other: `${count} offers. Alt A accepts, Alt D declines.`,
    }),
  offers: 'Offers',
  transferredByColleague: 'Transferred by a colleague',
  directRequest: 'Direct request',
  offer: (name: string) => `Offer: ${name}`,
  altA: 'Alt A',
  accept: 'Accept',
  acceptCall: 'Accept call',
  acceptVideoCall: 'Accept video call',
  altD: 'Alt D',
  decline: 'Decline',
  timeLeftToAnswer: 'Time left to answer',
  secondsLeft: (seconds: number) => `${seconds} s`,
  couldNotAnswerOffer: 'Could not answer the offer',

  // pages.ts
  liveBoard: 'Live board',
  desk: 'Desk',
  timeline: 'Timeline',
  queues: 'Queues',
  hours: 'Hours',
  webhooks: 'Webhooks',
  people: 'People',
  sites: 'Sites',
  auditLog: 'Audit log',

  // skip-link.tsx
  skipToContent: 'Skip to content',

  // reload-when-back.tsx
  reloadsWhenBack: 'The page reloads when the server is back, unless you are in a call or have unsaved changes.',
};
