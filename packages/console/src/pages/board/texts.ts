import { plural } from '../../components/plural.ts';

/** Every text of this page in English. A translation is another file of the same shape. */
export const texts = {
  // day/charts.tsx
  offeredAndAnswered: 'Offered and answered',
  offered: 'Offered',
  answered: 'Answered',
  waitTime: 'Wait time',
  average: 'Average',
  longest: 'Longest',
  abandonment: 'Abandonment',
  abandoned: 'Abandoned',
  turnedAway: 'Turned away',
  answeredWithin: (levelSec: number) => `Service level: answered within ${levelSec} s`,
  shareAnsweredInTime: 'Share of answered and abandoned',

  // day/day-view.tsx
  quarterHour: '15 minutes',
  halfHour: '30 minutes',
  oneHour: '1 hour',
  couldNotLoadDay: 'Could not load the day',
  loading: 'Loading',
  day: 'Day',
  chooseDay: 'Choose a day',
  interval: 'Interval',
  serviceLevelTarget: 'Service level target (s)',
  queues: 'Queues',
  allQueues: 'All queues',
  noMatchingQueues: 'No matching queues',
  noVisitorsOnDay: 'No visitors on this day',
  averageWait: 'Average wait',
  longestWait: 'Longest wait',
  within: (levelSec: number) => `Within ${levelSec} s`,
  totalsOfDay: 'Totals of the day',

  // day/figures-table.tsx
  answeredInAnotherQueue: 'Answered in another queue',
  stillWaiting: 'Still waiting',
  expired: 'Expired',
  unstaffed: 'Unstaffed',
  overflowed: 'Overflowed',
  serviceLevel: 'Service level',
  dayAsTable: 'The day as a table',
  from: 'From',

  // now/engagement-list.tsx
  visitorWithOperatorRich: '{visitor} with {operator}',
  activeConversations: 'Active conversations',
  visitorAndOperator: 'Visitor and operator',
  since: 'Since',
  action: 'Action',
  showAllQueues: 'Show all queues',
  noActiveConversationsFromQueue: 'No active conversations from this queue',
  noActiveConversations: 'No active conversations',
  loadingProgress: 'Loading…',
  operatorAnotherSite: 'operator of another site',
  visitorWithOperator: (visitor: string, operator: string) => `${visitor} with ${operator}`,
  viewConversation: (visitor: string, operator: string) => `View conversation of ${visitor} with ${operator}`,
  view: 'View',

  // now/now-view.tsx
  onlyQueue: 'Only\u00a0{name}',
  waiting: 'Waiting',
  conversations: 'Conversations',
  operators: 'Operators',
  people: 'People',
  queuesAndPeople: 'Queues and people',
  deletedQueue: 'deleted queue',
  clearQueueFilter: (name: string) => `Showing ${name} only. Show all queues`,

  // now/operator-list.tsx
  noOperatorsYet: 'No operators yet. {link} to get started.',
  setNameAway: (name: string) => `Set ${name} away`,
  setNameAvailable: (name: string) => `Set ${name} available`,
  operator: 'Operator',
  showAllOperators: 'Show all operators',
  noOnlineOperatorsServeQueue: 'No online operators serve this queue',
  addOperator: 'Add an operator',
  couldNotChangeAvailability: 'Could not change availability',
  setAway: 'Set away',
  setAvailable: 'Set available',

  // now/queue-cells.tsx
  showPeopleOfQueue: (name: string) => `${name}: show its visitors, conversations and operators`,
  openQueue: (name: string) => `Open queue ${name}`,
  waitingLabel: 'waiting',
  noOperatorsOnline: 'No operators online',
  noOperatorsOnlineLabel: 'No operators online:',
  longestLabel: 'longest',
  averageLabel: 'average',
  staffLabel: 'staff',
  allBusy: 'all busy',
  someBusy: (count: number) => `${count} busy`,
  allOperatorsBusy: 'All operators busy',
  fallsBackToLabel: 'falls back to',
  overflowsToLabel: (name: string) => `overflows to ${name}:`,
  anotherSite: 'another site',
  overflowsTo: (name: string) => `Overflows to ${name}`,
  capacityLabel: 'capacity',

  // now/queue-list.tsx
  noQueuesYet: 'No queues yet. {link} to get started.',
  findQueue: 'Find a queue',
  filterQueues: 'Filter queues',
  all: 'All',
  unavailable: 'Unavailable',
  queue: 'Queue',
  staff: 'Staff',
  capacity: 'Capacity',
  createQueue: 'Create a queue',

  // now/totals.tsx
  now: 'Now',
  visitorsWaitUnattended: 'Visitors wait in queues with no operators online',
  someUnattendedLabel: 'Some with no operators online:',
  online: 'Online',
  outOf: (total: number) => `of ${total}`,
  available: 'Available',
  queuesOpen: 'Queues open',

  // now/transcript.tsx
  file: (name: string) => `File: ${name}`,
  deletedFile: (name: string) => `File: ${name} (deleted)`,
  system: 'System',
  chat: 'Chat',
  chatWith: (visitor: string) => `Chat with ${visitor}`,
  close: 'Close',
  couldNotLoadConversation: 'Could not load the conversation',
  noMessagesYet: 'No messages yet',
  messages: 'Messages',
  conversationEnded: 'Conversation ended',
  choice: (text: string) => `Choice: ${text}`,
  chose: (option: string) => `Chose: ${option}`,

  // now/wait-time.tsx
  overTarget: (target: string) => `Longer than the service level target of ${target}`,
  longWait: 'Long wait:',

  // now/waiting-list.tsx
  transferOf: (activity: string) => `Transfer · ${activity}`,
  waitingVisitors: 'Waiting visitors',
  position: 'Position',
  visitor: 'Visitor',
  noOneWaitingInQueue: 'No one is waiting in this queue',
  noOneWaiting: 'No one is waiting',
  queueAnotherSite: 'queue of another site',
  ringingHelp: 'Offered to an operator, not answered yet',
  ringing: 'Ringing',
  remove: (name: string) => `Remove ${name}`,
  removeButton: 'Remove',
  confirmRemoveVisitor: (name: string) => `Remove ${name} from queue?`,
  couldNotRemoveVisitor: 'Could not remove the visitor',
  removeFromQueue: 'Remove from queue?',

  // page.tsx
  liveBoard: 'Live board',
  noManagedQueues: 'You do not supervise queues on this site. Choose another site above.',
  period: 'Period',
  today: 'Today',
  couldNotLoadBoard: 'Could not load the board',

  // labels.ts
  awayWith: (count: number) =>
    plural(count, { one: `Away, ${count} conversation`, other: `Away, ${count} conversations` }),
  away: 'Away',
  busyInCall: 'Busy, in a call',
  busy: (engagements: number, max: number) => `Busy ${engagements} of ${max}`,
};
