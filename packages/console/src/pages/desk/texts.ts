import { plural } from '../../components/plural.ts';

/** Every text of this page in English. A translation is another file of the same shape. */
export const texts = {
  // calls/call-devices.tsx
  devices: 'Devices',
  microphone: 'Microphone',
  camera: 'Camera',
  speaker: 'Speaker',
  systemDefault: 'System default',

  // calls/call-panel.tsx
  visitorMuted: 'Visitor is muted',
  yourMicrophoneOff: 'Your microphone is off',
  yourCameraOff: 'Your camera is off',
  inCall: 'In a call · {duration}',
  call: 'Call',
  couldNotEndCall: 'Could not end the call',
  callAgain: 'Call again',
  backToChat: 'Back to chat',
  mute: 'Mute',
  unmute: 'Unmute',
  cameraOff: 'Camera off',
  cameraOn: 'Camera on',
  hangUp: 'Hang up',
  youHungUp: 'You hung up.',
  visitorHungUp: 'The visitor hung up.',
  visitorDidNotAnswer: 'The visitor did not answer.',
  connectionWasLost: 'The connection was lost.',
  callHasEnded: 'The call has ended.',
  callInAnotherWindow: 'The call is in another window.',
  visitorInCall: 'The visitor is in the call.',
  visitorLeftCall: 'The visitor left the call. Waiting for them to come back…',
  videoCallInProgress: 'Video call in progress',
  callInProgress: 'Call in progress',
  waitingForMicrophoneAccess: 'Waiting for microphone access…',
  callingVisitor: 'Calling the visitor…',
  reconnectingCall: 'The call is interrupted. Reconnecting…',
  visitor: 'Visitor',
  visitorVideo: "Visitor's video",
  yourVideo: 'Your video',

  // calls/use-call-obstacle.ts
  callObstacles: {
    otherCall: 'You are in another call.',
    otherInvitation: 'You invited another visitor to a call.',
    otherChats: 'This site allows no calls beside other chats. End your other chats first.',
  },

  // calls/upgrade-bar.tsx
  visitorInvites: {
    audio: 'The visitor wants to start an audio call.',
    video: 'The visitor wants to start a video call.',
    oneWayVideo: 'The visitor wants to start a call with one-way video.',
  },
  youInvited: {
    audio: 'You invited the visitor to an audio call.',
    video: 'You invited the visitor to a video call.',
    oneWayVideo: 'You invited the visitor to a call with one-way video.',
  },
  couldNotAnswerRequest: 'Could not answer the request',
  accept: 'Accept',
  decline: 'Decline',
  cancel: 'Cancel',

  // chat-list.tsx
  waitingFor: 'Waiting {duration}',
  conversations: 'Conversations',
  unread: (count: number) => `${count} unread`,
  ended: 'Ended',
  typing: 'Typing…',
  noMessagesYet: 'No messages yet',
  file: 'File',

  // composer/card-composer.tsx
  question: 'Question',
  choice: (number: number) => `Choice ${number}`,
  addChoice: 'Add choice',
  sendCard: 'Send card',

  // composer/composer.tsx
  message: 'Message',
  writeMessage: 'Write a message',
  scanningFile: 'Scanning a file…',
  sendEnter: 'Send (Enter)',
  send: 'Send',
  attachFileTypes: (types: string) => `Attach a file: ${types}`,
  fileSharingOff: 'File sharing is off for operators on this site',
  attachFile: 'Attach a file',
  sendCardHelp: 'Send a card',
  card: 'Card',
  newCard: 'New card',

  // composer/file-target.tsx
  dropFilesToAttach: 'Drop files to attach',
  couldNotAttachFile: 'Could not attach the file',
  fileSharingOffSentence: 'File sharing is off for operators on this site.',

  // composer/staged-files.tsx
  scanning: 'Scanning…',
  clean: 'Clean',
  notScanned: 'Not scanned',
  virusFoundNotSent: 'Virus found: not sent',
  filesToSend: 'Files to send',
  uploading: (name: string) => `Uploading ${name}`,
  remove: (name: string) => `Remove ${name}`,

  // conversation/chat-head.tsx
  backToList: 'Back to the list',
  transferredToColleague: 'Transferred to a colleague',
  audioCall: 'Audio call',
  videoCall: 'Video call',
  oneWayVideo: 'One-way video',
  couldNotSendRequest: 'Could not send the request',
  inviteVisitorTo: 'Invite the visitor to',
  transfer: 'Transfer',
  end: 'End',
  close: 'Close',

  // conversation/end-dialog.tsx
  confirmEnd: 'End conversation?',
  confirmEndHelp: 'The visitor will be notified. You can still read the messages.',
  endConversation: 'End conversation',

  // conversation/file-links.tsx
  deletedFile: '{name} (deleted)',
  couldNotDownloadFile: 'Could not download the file',

  // conversation/message.tsx
  picture: 'Picture: {url}',
  assistantSuggests: 'Suggested reply · visible only to you',
  assistantNote: 'Assistant · visible only to you',
  fromOperator: 'From an operator',
  from: (name: string) => `From ${name}`,
  delivered: '✓✓ Delivered',
  sent: '✓ Sent',
  colleague: 'Colleague',
  choices: 'Choices',
  chosen: 'Chosen',
  assistant: 'Assistant',
  insertReply: 'Use reply',

  // conversation/messages.tsx
  isTyping: '{name} is typing…',
  messages: 'Messages',
  loading: 'Loading',
  showEarlierMessages: 'Show earlier messages',

  // conversation/outgoing.tsx
  notSentBecause: (reason: string) => `Not sent: ${reason}`,
  notSentYetBecause: (reason: string) => `Not sent yet: ${reason}`,
  notSentYet: 'Not sent yet',
  files: (count: number) => plural(count, { one: `${count} file`, other: `${count} files` }),
  sending: 'Sending…',
  tryAgain: 'Try again',
  discard: 'Discard',

  // conversation/thread-note.tsx
  transferredByYou: 'Transferred by you',
  transferredBy: 'Transferred by {name}',
  formerColleague: 'a former colleague',

  // desk.ts
  cantReachServer: "Can't reach the server",

  // labels.ts
  endedByVisitor: 'Ended by visitor',
  endedByYou: 'Ended by you',
  visitorDisconnected: 'Visitor disconnected',
  youWereDisconnected: 'You were disconnected',
  endedWithError: 'Ended with an error',
  today: 'Today',
  yesterday: 'Yesterday',

  // page.tsx
  goAvailable: 'Go available to start receiving chats.',
  goAvailableAfterMissedOffer: 'You missed an offer. Go available to start receiving chats.',
  desk: 'Desk',
  keyboardShortcutsHint: 'Keyboard shortcuts (?)',
  keyboardShortcuts: 'Keyboard shortcuts',
  announcements: 'Announcements',
  couldNotLoadEverything: 'Could not load everything',
  chats: 'Chats',
  conversation: 'Conversation',
  selectConversation: 'Select a conversation',
  notYourConversation: 'This conversation is not assigned to you',
  noConversations: 'No conversations',
  waitingForVisitors: 'Waiting for visitors. Keep this page open.',
  muteNotifications: 'Mute notifications',
  unmuteNotifications: 'Unmute notifications',
  sound: 'Sound',

  // presence-menu.tsx
  allMedia: 'All media',
  awayReason: 'Away reason',
  awayReasonExample: 'e.g. Lunch',
  away: 'Away',

  // shortcuts.tsx
  altA: 'Alt A',
  acceptOffer: 'Accept the offer',
  altD: 'Alt D',
  declineOffer: 'Decline the offer',
  altDown: 'Alt ↓',
  nextConversation: 'Next conversation',
  altUp: 'Alt ↑',
  previousConversation: 'Previous conversation',
  enter: 'Enter',
  shiftEnter: 'Shift Enter',
  newLine: 'New line',
  altX: 'Alt X',
  endOrClose: 'End the conversation, or close an ended one',
  showKeyboardShortcuts: 'Show keyboard shortcuts',

  // transfers/transfer-bar.tsx
  transferring: 'Transferring to {name}… You stay connected until they accept.',
  aColleague: 'a colleague',
  aQueue: 'a queue',
  couldNotCancelTransfer: 'Could not cancel the transfer',

  // transfers/transfer-dialog.tsx
  transferTo: 'Transfer to',
  queue: 'Queue',
  search: 'Search',
  colleagues: 'Colleagues',
  queues: 'Queues',
  noResults: 'No results',
  noColleaguesAvailable: 'No colleagues available. Transfer to a queue instead.',
  noQueues: 'No queues',
  noteHelp: 'Note for the next operator. The visitor does not see it.',
  doesNotAccept: (media: string) => `does not accept ${media}`,

  // visitor/past-engagements.tsx
  firstConversation: 'First conversation',
  noMessages: 'No messages',

  // visitor/visitor-form.tsx
  name: 'Name',
  email: 'E-mail',
  phone: 'Phone',
  visitorDetails: 'Visitor details',
  note: 'Note',
  forOperatorsOnly: 'For operators only',
  save: 'Save',
  attributes: 'Attributes',
  attribute: 'Attribute',
  valueOf: (name: string) => `Value of ${name}`,
  value: 'Value',
  addAttribute: 'Add attribute',

  // visitor/visitor-panel.tsx
  visitorOnAnotherSite: 'The visitor is on another site. Their details are shown there.',
  previousConversations: 'Previous conversations',

  // use-announcement.ts
  newFile: 'New message: a file',
  newMessage: (content: string) => `New message: ${content}`,
};
