import { plural } from '../../components/plural.ts';

/** Every text of this page in English. A translation is another file of the same shape. */
export const texts = {
  // alarm-menu.tsx
  webhookAlarms: (count: number) =>
    plural(count, { one: `${count} webhook needs attention`, other: `${count} webhooks need attention` }),
  disabledWithReason: (reason: string) => `Disabled: ${reason}`,

  // catalogue/catalogue.tsx
  verifyHelp:
    'Requests are signed according to Standard Webhooks. Use one of its libraries or this Node.js code. Respond with any 2xx within 15 seconds, and expect the same {header} more than once.',
  allWebhooks: 'All webhooks',
  eventCatalogue: 'Event catalogue',
  loading: 'Loading',
  searchEventTypes: 'Search event types',
  searchByNameOrDescription: 'Search by name or description',
  eventTypes: 'Event types',
  noMatchingEventTypes: 'No matching event types',
  sample: 'Sample',
  fields: 'Fields',
  schema: 'Schema',
  jsonSchema: 'JSON Schema',
  verifySignature: 'Verify the signature',
  signatureVerificationInNodeJs: 'Signature verification in Node.js',

  // catalogue/schema-rows.ts
  variant: (number: number, total: number) => `variant ${number} of ${total}`,
  listOf: (items: string) => `list of ${items}`,

  // catalogue/schema-tree.tsx
  optionalType: (type: string) => `${type} (optional)`,
  field: 'Field',
  type: 'Type',
  description: 'Description',
  descriptionHelp: 'The name of the webhook in lists.',

  // channels/apns.ts
  applePushNotification: 'Apple push notification',
  deviceTokenEnded: 'Apple reported that the device token is no longer valid',
  deviceToken: 'Device token',
  topic: 'Topic',
  bundleId: 'Bundle ID of the app',
  apnsEnvironment: 'APNs environment',
  sandbox: 'Sandbox',
  production: 'Production',
  silent: 'Silent',
  silentHelp: 'Wakes the app without showing a notification',
  device: 'Device',
  applePush: 'Apple push',
  invalidDeviceToken: 'may contain only letters, digits, _ and -, up to 200 characters',
  invalidBundleId: 'must be a bundle ID: letters, digits, dots, _ and - only',

  // channels/channel.ts
  signatureNotStored: 'v1,… (computed for each attempt, not stored)',

  // channels/headers.ts
  listedTwice: 'is listed twice',
  atMostHeaders: (count: number) => `must not have more than ${count} headers`,

  // channels/http.ts
  noneValue: 'none',
  urlLabel: 'URL',
  httpRequest: 'HTTP request',
  answeredGone: 'the receiver answered 410 Gone',
  method: 'Method',
  headers: 'Headers',
  atMostCharacters: (max: number) => `must not have more than ${max} characters`,
  invalidHttpUrl: 'must be a full http:// or https:// URL',

  // channels/nats.ts
  storedCredentials: 'Stored credentials',
  noCredentials: 'No credentials',
  userAndPassword: 'User and password',
  token: 'Token',
  natsStream: 'NATS stream',
  streamWasDeleted: 'the stream was deleted',
  server: 'Server',
  subject: 'Subject',
  subjectHelp: 'Must be bound to a JetStream stream',
  authentication: 'Authentication',
  user: 'User',
  password: 'Password',
  stream: 'Stream',
  credentialsOfAnotherServer: 'are for another server; enter the credentials of this one',
  required: 'is required',
  messageTo: (subject: string, server: string) => `Message to ${subject} at ${server}`,
  noCredentialsInUrl: 'must not contain a user name or password',
  invalidNatsUrl: 'must look like nats://example.com:4222 (tls:// for TLS)',

  // deliveries/attempt.tsx
  noResponseAfter: (duration: string) => `no response after ${duration}`,
  statusAfter: (status: number, duration: string) => `status ${status} after ${duration}`,
  notSent: 'not sent',
  noAttemptsYet: 'No attempts yet',
  request: 'Request',
  requestHeaders: 'Request headers',
  eventNoLongerStored: 'The event is no longer stored.',
  requestBody: 'Request body',
  response: 'Response',
  noResponse: 'No response',
  statusCode: (status: number) => `Status ${status}`,
  responseBody: 'Response body',

  // deliveries/deliveries.tsx
  newestPartOnly: 'Showing matches in the newest part of the log. There may be older ones.',
  newer: 'Newer',
  searchOlderDeliveries: 'Search older deliveries',
  older: 'Older',
  newest: 'Newest',
  noDeliveriesYet: 'No deliveries yet',
  noDeliveriesYetHelp: 'Events this webhook is subscribed to appear here. Send a test event to see one now.',
  noMatchInNewestPart:
    'No matching deliveries in the newest part of the log. Search older deliveries or set a time range.',
  noMatchingDeliveries: 'No matching deliveries',

  // deliveries/delivery-drawer.tsx
  delivery: 'Delivery',
  close: 'Close',
  enableWebhookFirst: 'Enable the webhook first',
  retryNow: 'Retry now',
  replay: 'Replay',
  attempts: 'Attempts',
  attemptsHelp:
    'Method, URL and headers are the current settings of the webhook. Only the status and the first 4 KiB of a response are stored.',
  event: 'Event',
  cannotReplay: "The event is no longer stored, so this delivery can't be replayed.",
  eventType: 'Event type',
  occurred: 'Occurred',
  nextAttempt: 'Next attempt',
  finished: 'Finished',
  order: 'Order',
  unordered: 'Unordered',
  outOfOrder: 'Out of order: parked after failures',
  inOrderPerConversation: 'In order per conversation',
  conversation: 'Conversation',
  deliveryDetails: 'Delivery details',

  // deliveries/delivery-table.tsx
  nextAttemptAt: 'next {time}',
  deliveries: 'Deliveries',
  selectAllOnPage: 'Select all on this page',
  state: 'State',
  selectDelivery: (eventType: string, time: string) => `Select ${eventType} of ${time}`,

  // deliveries/filters.tsx
  allStates: 'All states',
  allEventTypes: 'All event types',
  from: 'From',
  fromValue: 'from',
  eventsFrom: 'Events from',
  to: 'To',
  toValue: 'to',
  eventsBefore: 'Events before',
  clearFilters: 'Clear filters',
  searchById: 'Search by ID',
  searchByIdExample: 'ID of a delivery, event or conversation',
  enterFullId: 'enter the full ID (8-4-4-4-12 digits)',

  // deliveries/recover.tsx
  fromTime: 'from {from}',
  fromTimeToTime: '{from} to {to}',
  running: 'Running',
  recoveryStopped: 'Stopped: the webhook was disabled or deleted',
  recover: 'Recover',
  recoverHelp:
    'Replays held and failed deliveries in the background, in event order. Delivered and pending ones are not sent again.',
  toOptional: 'To (optional)',
  enableFirstSentence: 'Enable the webhook first.',
  recoveries: 'Recoveries',
  noRecoveriesYet: 'No recoveries yet',
  events: 'Events',
  replayed: 'Replayed',
  started: 'Started',

  // deliveries/replay-many.tsx
  deliveriesSelected: (count: number) =>
    plural(count, { one: `${count} delivery selected`, other: `${count} deliveries selected` }),
  maxDeliveriesSelected: (count: number) => `${count} deliveries selected (maximum)`,
  replaySelected: 'Replay selected',
  deliveriesReplayed: (count: number) =>
    plural(count, { one: `${count} delivery replayed`, other: `${count} deliveries replayed` }),
  deliveriesFailed: (count: number) => `${count} could not be replayed:`,
  clearSelection: 'Clear selection',
  replaying: (done: number, total: number) => `Replaying ${done} of ${total}…`,
  retryFailed: 'Retry failed',

  // deliveries/test-event.tsx
  nextAttemptIs: 'Next attempt: {time}',
  sendTestEvent: 'Send a test event',
  testEventHelp: 'A sample of this type is sent to this webhook only, even if it is not subscribed to it.',
  send: 'Send',
  sendAnother: 'Send another',
  sending: 'Sending',
  sendingProgress: 'Sending…',
  viewDelivery: 'View delivery',

  // long-text.tsx
  showLess: 'Show less',
  showAllCharacters: (count: string) => `Show all ${count} characters`,
  copyLabel: (what: string) => `Copy ${what}`,
  copied: 'Copied',
  copy: 'Copy',

  // registrations/destination-fields.tsx
  urlInApi: 'URL in the API: {url}',
  url: (url: string) => `URL ${url}`,

  // registrations/event-picker.tsx
  eventsSelected: (count: number) => `Events (${count} selected)`,
  selectAll: 'Select all',
  selectThese: 'Select these',
  none: 'None',
  clearThese: 'Clear these',

  // registrations/fields.ts
  selectAtLeastOne: 'select at least one',
  selectSitesOrAll: 'select at least one site, or all sites',

  // registrations/header-fields.tsx
  headersHelp: 'Sent with every request, e.g. an authorization token.',
  headerName: (number: number) => `Name of header ${number}`,
  name: 'Name',
  headerValue: (number: number) => `Value of header ${number}`,
  value: 'Value',
  removeHeader: (number: number) => `Remove header ${number}`,
  addHeader: 'Add header',

  // registrations/new-webhook.tsx
  newWebhook: 'New webhook',
  createWebhook: 'Create webhook',
  cancel: 'Cancel',
  webhookCreated: 'Webhook created',
  secretSaved: "I've saved it",
  ownSecret: 'Use my own secret',
  ownSecretHelp: 'Otherwise we generate one and show it once.',
  secret: 'Secret',

  // registrations/rotate-secret.tsx
  secretHelp: 'The secret signs every request. After a rotation the old secret works for 24 more hours.',
  rotateSecret: 'Rotate secret',
  confirmRotateSecret: 'Rotate secret?',
  newSecret: 'New secret',
  rotateSecretHelp:
    'We generate a new secret and show it once. For 24 hours every request is signed with both secrets, so you can update the receiver. Rotating again within that time revokes the oldest secret immediately.',
  rotate: 'Rotate',

  // registrations/new-secret.tsx
  secretShownHelp: 'Requests are signed with this secret. Store it for the receiver now; it is not shown again.',
  oldSecretUntil: (time: string) =>
    `Until ${time} every request is signed with both secrets. Update the receiver before then.`,

  // registrations/settings.tsx
  webhookSaved: 'Webhook saved',
  settings: 'Settings',
  save: 'Save',
  discardChanges: 'Discard changes',
  deleteWebhookHelp:
    'Deleting a webhook discards its pending deliveries. Past deliveries stay in the log until they expire.',
  sites: 'Sites',
  allSitesOfCreator: 'all sites of its creator',
  inOrderValue: 'in order per conversation',
  unorderedValue: 'unordered',
  switch: 'Switch',
  on: 'on',
  off: 'off',

  // registrations/switch-button.tsx
  disable: 'Disable',
  enable: 'Enable',

  // registrations/webhook-form.tsx
  deliverInOrderPerConversation: 'Deliver in order per conversation',
  deliverInOrderHelp:
    'A failing delivery delays later ones of the same conversation for a while. When off, events are sent as they occur.',
  enabled: 'Enabled',
  enabledHelp: 'While disabled, deliveries are held and can be recovered.',
  allSitesOption: 'All sites where the creator is super manager, including future sites',
  selectedSites: 'Selected sites',
  selectSites: 'Select sites',

  // registrations/webhook-list.tsx
  eventTypeCount: (count: number) => plural(count, { one: `${count} event type`, other: `${count} event types` }),
  webhooks: 'Webhooks',
  noWebhooksYet: 'No webhooks yet',
  noWebhooksYetHelp:
    'A webhook is a URL that Usher calls when something happens: a conversation starts, a message is sent. Add one, send it a test event, and follow every delivery here.',
  addWebhook: 'Add webhook',
  destination: 'Destination',
  status: 'Status',
  last24Hours: 'Last 24 hours',
  anotherSite: 'another site',
  allSites: 'all sites',
  noSites: 'no sites',

  // registrations/webhook-page.tsx
  deliveryStats: 'Delivery stats',
  webhook: 'Webhook',
  couldNotLoadWebhook: 'Could not load the webhook',

  // stats/last-day.tsx
  lastWithoutResponse: 'last: no response, {time}',
  lastWithStatus: 'last: status {status}, {time}',
  noAttempts: 'no attempts',
  countPending: (count: string) => `${count} pending`,
  countRetrying: (count: string) => `${count} retrying`,
  countHeld: (count: string) => `${count} held`,
  couldNotLoad: 'could not load',
  deliveredFailed: (delivered: string, failed: string) => `${delivered} delivered, ${failed} failed`,

  // stats/outcome-charts.tsx
  attemptsSummary: (delivered: number, failed: number, givenUp: number) =>
    `Attempts: ${delivered} delivered, ${failed} failed attempts, ${givenUp} failed`,
  delivered: 'Delivered',
  failedAttempts: 'Failed attempts',
  failed: 'Failed',
  attemptDurationMedianAndP95: 'Attempt duration: median and p95',
  attemptDuration: 'Attempt duration',
  median: 'Median',

  // stats/outcome-table.tsx
  noAttemptsInPeriod: 'No attempts in this period',
  outcomes: 'Outcomes',
  p95: 'p95',

  // stats/outcomes.tsx
  period: 'Period',
  showAsCharts: 'Show as charts',
  showAsTable: 'Show as a table',
  newestCountedOnly: 'Too many deliveries: only those of the newest events are counted.',
  pendingNow: 'Pending now',
  retryingNow: 'Retrying now',
  heldNow: 'Held now',
  summary: 'Summary',

  // stats/spans.ts
  oneHour: '1 hour',
  oneDay: '24 hours',
  sevenDays: '7 days',

  // stats/webhook-status.tsx
  deliveryCount: (count: number) => plural(count, { one: `${count} delivery`, other: `${count} deliveries` }),
  reasonSince: '{reason} since {time}',
  sinceTime: 'since {time}',
  disabled: 'Disabled',
  failing: 'Failing',
  retrying: 'Retrying',

  // labels.ts
  seconds: (seconds: string) => `${seconds} s`,
  pending: 'Pending',
  pendingMeaning: 'Will be sent shortly.',
  retryingMeaning: 'The last attempt failed. It will be tried again.',
  held: 'Held',
  heldMeaning: 'Held while the webhook was disabled. Recover or replay it.',
  deliveredMeaning: 'The receiver accepted it.',
  failedMeaning: 'All attempts failed. Recover or replay it.',
  discarded: 'Discarded',
  discardedMeaning: 'Dropped. Recovery skips it, but you can replay it.',
  disabledManually: 'disabled manually',
  failedForDays: 'nothing was delivered for days',
  milliseconds: (ms: number) => `${ms} ms`,
};
