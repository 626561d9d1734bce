import { plural } from '../../components/plural.ts';

/** Every text of this page in English. A translation is another file of the same shape. */
export const texts = {
  // application-tokens.tsx
  idCreatedAt: '{id} created {time}',
  createPublishableToken: 'Create publishable token',
  createSecretToken: 'Create secret token',
  secretTokenNamed: (id: string) => `Secret token ${id}`,
  publishableTokenNamed: (id: string) => `Publishable token ${id}`,
  publishable: 'Publishable',
  secret: 'Secret',
  publishableMeaning: 'safe in client-side code; the widget uses it',
  secretMeaning: 'for your servers; can also renew visitor tokens',
  tokensHelp:
    'The widget needs a publishable token. Create one and paste its embed code into your pages. Add the origins of your pages to the allowed origins.',
  loading: 'Loading',
  noTokensYet: 'No tokens yet',
  tokenNotShown: "This token works, but can't be shown. To copy the embed code, create a new token.",
  publishableToken: 'Publishable token',
  embedCode: 'Embed code',
  tryItOnDemoPage: 'Try it on the demo page',
  saveTokenNow: 'Save this token now',
  close: 'Close',
  secretToken: 'Secret token',
  shownOnlyOnce: 'Shown only once',
  delete: 'Delete',
  deleteToken: (id: string) => `Delete token ${id}`,
  confirmDeleteToken: 'Delete this token?',
  deleteTokenHelp: 'The token stops working immediately. Widgets that use it disappear.',

  // delete-site.tsx
  siteDeleted: 'Site deleted',
  deleteSite: 'Delete site',
  confirmDeleteSite: 'Delete this site?',
  deleteSiteHelp: 'An empty site is deleted immediately. Otherwise we first list what will be deleted with it.',
  couldNotDeleteSite: 'Could not delete the site',
  inProgress: 'In progress',
  cancel: 'Cancel',
  alsoDeleted: "This can't be undone. Also deleted:",
  deletedWithSite: 'Deleted with the site',
  keptAfterDeletion: 'The audit log is kept. Past events are kept until they expire.',
  typeSiteNameToConfirm: 'Type the site name to confirm',

  // draft.ts
  notAnOrigin: (origin: string) =>
    `“${origin}” is not an origin. Use a form like https://www.example.com, without a path.`,
  notAContentType: (type: string) => `“${type}” is not a content type. Use a form like image/png or image/*.`,

  zeroSeconds: '0 s',
  days: (count: number) => `${count} d`,
  hours: (count: number) => `${count} h`,
  minutes: (count: number) => `${count} min`,
  seconds: (count: number) => `${count} s`,
  // list.tsx
  sites: 'Sites',
  addSite: 'Add site',
  site: 'Site',
  allowedOrigins: 'Allowed origins',
  timeZone: 'Time zone',
  yourRole: 'Your role',
  siteNamed: (name: string) => `site ${name}`,
  none: 'None',
  notSet: 'Not set',

  // new-site.tsx
  backToSites: '← Sites',
  newSite: 'New site',
  create: 'Create',

  // providers.tsx
  clientWithSecret: (client: string) => `Client ${client}, with a secret`,
  clientWithoutSecret: (client: string) => `Client ${client}, without a secret`,
  redirectsTo: (uris: string) => `redirects to ${uris}`,
  providersHelp:
    "Let visitors sign in with an OpenID Connect provider. Providers can't be edited: add a new one and delete the old one.",
  noProvidersYet: 'No providers yet: visitors are anonymous unless your site identifies them.',
  deleteProvider: (name: string) => `Delete provider ${name}`,
  confirmDeleteProvider: 'Delete this provider?',
  deleteProviderHelp: 'Sign-ins in progress will fail.',
  newProvider: 'New provider',
  name: 'Name',
  issuer: 'Issuer',
  exactIssuerUrl: 'Exact issuer URL',
  clientId: 'Client ID',
  clientSecret: 'Client secret',
  clientSecretHelp: 'Optional. Not shown again.',
  redirectUris: 'Redirect URIs',
  pressEnterToAdd: 'Press Enter to add.',
  addProvider: 'Add provider',

  // sample-section.tsx
  sampleDataHelp:
    'Adds a site with a small shop and simulated visitors and operators, so you can see every page with data.',
  sampleDataRunning: 'Simulated operators are serving simulated visitors.',
  sampleDataPaused: 'Paused. Existing sample data is kept.',
  deletingSampleData: 'Deleting sample data…',
  sampleData: 'Sample data',
  openSampleSite: 'Open sample site',
  createSampleData: 'Create sample data',
  pause: 'Pause',
  resume: 'Resume',
  deleteSampleData: 'Delete sample data',
  confirmDeleteSampleData: 'Delete sample data?',
  deleteSampleDataHelp:
    'Deletes the sample site with everything in it, including what you added there. Other sites are not affected.',

  // settings-form.tsx
  secondsSuffix: ' s',
  siteUrls: 'Site URLs',
  siteUrlsHelp: 'For reference. Press Enter to add.',
  allowedOriginsHelp:
    'Pages that can use the API and embed the widget, e.g. https://www.example.com. Press Enter to add.',
  noneServerOnly: 'None: this server only',
  offerTimeout: 'Offer timeout',
  offerTimeoutHelp: 'An unanswered offer goes to another operator after this.',
  visitorRequestTimeout: 'Visitor request timeout',
  visitorRequestTimeoutHelp: 'Requests to a visitor expire after this.',
  maxWait: 'Max wait',
  maxWaitHelp: 'Max wait before the visitor is removed.',
  waiting: 'Waiting',
  describedDuration: (description: string, duration: string) => `${description} Now ${duration}.`,
  setOperatorsAwayAfterMissedOffer: 'Set operators away after a missed offer',
  allowCallsBesideChats: 'Allow calls beside other chats',
  allowCallsBesideChatsHelp:
    'An operator in a call gets no new offers until the call ends. If this is off, an operator with other chats cannot call.',
  visitorsCanAttachWebhooks: 'Visitors can attach webhooks',
  visitorsCanAttachWebhooksHelp:
    "Lets a visitor's client pass a webhook with a ticket or request. Not needed for the widget.",
  newVisitorsPerMinute: 'New visitors per minute',
  newVisitorsPerMinuteHelp: 'Visitors created per IP address per minute.',
  concurrentWaitingVisitors: 'Concurrent waiting visitors',
  concurrentWaitingVisitorsHelp: 'Keep this below the capacity of your smallest queue.',
  liveConnections: 'Live connections',
  liveConnectionsHelp: 'Browser tabs waiting or chatting per IP address.',
  limitsPerIpAddress: 'Limits per IP address',
  limitsPerIpAddressHelp:
    'For visitors from web pages. Offices and mobile networks often share one IP address. Visitors created with a secret token are not limited.',
  removeAbsentVisitorsFromQueue: 'Remove absent visitors from the queue',
  removeAbsentVisitorsHelp:
    'Visitors who report no presence for a minute lose their place. The widget reports presence; your own clients must do so, too.',
  compatibility: 'Compatibility',
  messagesSentToAttachedWebhooks: 'Messages sent to attached webhooks',
  attachedWebhooksHelp: "Bots and messenger bridges that attach a webhook to a ticket need the other side's messages.",
  ignoreUnknown: 'Ignore unknown fields and query parameters',
  ignoreUnknownHelp: 'For clients that send extra fields. When off, such requests are rejected, which catches typos.',
  files: 'Files',
  operatorsCanSendFiles: 'Operators can send files',
  visitorsCanSendFiles: 'Visitors can send files',
  allowedFileTypes: 'Allowed file types',
  allowedFileTypesHelp: 'Content types, e.g. application/pdf or image/*. Press Enter to add.',

  // sip-domains.tsx
  addedAt: 'Added {time}',
  sipDomainsHelp: 'A SIP domain can belong to one site only.',
  sipDomain: 'SIP domain',
  addDomain: 'Add domain',
  noSipDomainsYet: 'No SIP domains yet',
  deleteNamed: (name: string) => `Delete ${name}`,
  confirmDeleteSipDomain: 'Delete this SIP domain?',
  deleteSipDomainHelp: 'Subscribed webhooks are notified.',

  // site-contents.ts
  moreThan: (count: number) => `more than ${count}`,
  /** `count` chooses the plural form, and `amount` is shown: `3`, `more than 10000`. */
  contents: {
    operators: (count: number, amount: string) =>
      plural(count, {
        one: `${amount} other operator loses their role here`,
        other: `${amount} other operators lose their role here`,
      }),
    teams: (count: number, amount: string) => plural(count, { one: `${amount} team`, other: `${amount} teams` }),
    queues: (count: number, amount: string) => plural(count, { one: `${amount} queue`, other: `${amount} queues` }),
    fallbacks: (count: number, amount: string) =>
      plural(count, {
        one: `${amount} queue of another site that overflows to a queue here`,
        other: `${amount} queues of other sites that overflow to a queue here`,
      }),
    scheduling_policies: (count: number, amount: string) =>
      plural(count, { one: `${amount} set of hours`, other: `${amount} sets of hours` }),
    phone_channels: (count: number, amount: string) =>
      plural(count, { one: `${amount} phone channel`, other: `${amount} phone channels` }),
    digital_channels: (count: number, amount: string) =>
      plural(count, { one: `${amount} messaging channel`, other: `${amount} messaging channels` }),
    application_tokens: (count: number, amount: string) =>
      plural(count, { one: `${amount} application token`, other: `${amount} application tokens` }),
    identity_providers: (count: number, amount: string) =>
      plural(count, { one: `${amount} identity provider`, other: `${amount} identity providers` }),
    sip_domains: (count: number, amount: string) =>
      plural(count, { one: `${amount} SIP domain`, other: `${amount} SIP domains` }),
    webhooks: (count: number, amount: string) =>
      plural(count, {
        one: `${amount} webhook no longer receives events of this site`,
        other: `${amount} webhooks no longer receive events of this site`,
      }),
    visitors: (count: number, amount: string) =>
      plural(count, { one: `${amount} visitor`, other: `${amount} visitors` }),
    engagements: (count: number, amount: string) =>
      plural(count, {
        one: `${amount} conversation, with its messages and files`,
        other: `${amount} conversations, with their messages and files`,
      }),
    waiting_visitors: (count: number, amount: string) =>
      plural(count, { one: `${amount} waiting visitor`, other: `${amount} waiting visitors` }),
    pending_requests: (count: number, amount: string) =>
      plural(count, { one: `${amount} unanswered request`, other: `${amount} unanswered requests` }),
    active_engagements: (count: number, amount: string) =>
      plural(count, { one: `${amount} active conversation`, other: `${amount} active conversations` }),
  },

  // site-page.tsx
  sipDomains: 'SIP domains',
  settings: 'Settings',
  widgetAndTokens: 'Widget and tokens',
  visitorSignIn: 'Visitor sign-in',
  couldNotLoadSite: 'Could not load the site',
  siteId: 'Site ID',
  thisSite: 'this site',
  onlySuperManagers: 'Only super managers of this site can change it.',
  siteSections: 'Site sections',

  // site-settings.tsx
  siteSaved: 'Site saved',
  save: 'Save',
  discard: 'Discard',

  // time-zone.tsx
  timeZoneHelp: 'Time zone of the site. Opening hours have their own.',
  noTimeZone: 'No time zone',
  noMatchingTimeZones: 'No matching time zones',

  // views.ts
  messagesOfAttachingSide: 'Messages of the side that attached the webhook',
  messagesOfOtherSide: 'Messages of the other side',
  messagesOfBothSides: 'Messages of both sides',
  notSetValue: 'not set',
  noneValue: 'none',
  yes: 'yes',
  no: 'no',
  operators: 'operators',
  visitors: 'visitors',
  whoCanSendFiles: 'Who can send files',
  newVisitorsPerMinuteCount: (count: number) =>
    plural(count, { one: `${count} new visitor per minute`, other: `${count} new visitors per minute` }),
  waitingPerAddress: (count: number) => `${count} waiting`,
  liveConnectionsPerAddress: (count: number) =>
    plural(count, { one: `${count} live connection`, other: `${count} live connections` }),
  ignoreUnknownFields: 'Ignore unknown fields',
};
