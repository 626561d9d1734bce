import { callTexts } from '@usher/call/texts';
import type { EndReason, TicketState } from '@usher/contract/states';
import type { CallKind } from '../calls/call-media.ts';
import type { Medium } from '../calls/media.ts';
import { pluralFor } from '../plural.ts';

const locale = 'en';
const plural = pluralFor(locale);

const tryLater = "This isn't possible right now. Please try again later.";
const tooManyRequests = 'Too many requests. Please try again in a moment.';
const noFiles = "Files can't be sent right now. Please try again later.";
const noCall = "We can't take a call right now. You can continue by chat.";
const cancelled = 'Your request was cancelled.';

/**
 * The English texts of the widget. Another language is another file in this folder, named by its tag (`de.ts`), with an export
 * `texts` of type `Texts`. The widget uses it on pages whose `lang` is that tag. Every text is whole: no sentence is assembled from
 * parts, because other languages need another word order.
 */
export const texts = {
  /** Formats times, dates, numbers and lists. */
  locale,

  title: 'Chat with us',
  greeting: 'How would you like to talk to us?',
  media: { text: 'Chat', audio: 'Call', video: 'Video call' } satisfies Record<Medium, string>,
  oneMoment: 'One moment…',
  yourName: 'Your name (optional)',
  offline: "We're offline right now.",
  offlineUntilToday: (time: string) => `We're offline right now. We're back at ${time}.`,
  offlineUntilTomorrow: (time: string) => `We're offline right now. We're back tomorrow at ${time}.`,
  offlineUntilDay: (day: string, time: string) => `We're offline right now. We're back on ${day} at ${time}.`,

  findingOperator: 'Finding someone to help you',
  numberInLine: (position: number) => `You are number ${position} in line`,
  nextInLine: 'You are next in line',
  firstInLine: 'You are first in line',
  connectingYou: 'Connecting you now…',
  lessThanMinute: 'Usually less than a minute',
  aboutMinutes: (minutes: number) => plural(minutes, { one: 'About # minute', other: 'About # minutes' }),
  aboutHours: (hours: number) => plural(hours, { one: 'About # hour', other: 'About # hours' }),
  keepSiteOpen: 'Keep this site open to hold your place.',
  stopWaiting: 'Stop waiting',
  /** Why a ticket ended without an engagement. */
  ticketEnds: {
    unstaffed: "We're offline right now. Please try again later.",
    expired: 'Sorry, no one was available in time. Please try again.',
    visitor_left: 'You lost your place because your connection was interrupted. Please try again.',
    canceled: cancelled,
    waiting: cancelled,
    offered: cancelled,
    engaged: cancelled,
  } satisfies Record<TicketState, string>,

  connected: 'You are connected.',
  nowChattingWith: (name: string) => `You're now chatting with ${name}`,
  nowChattingWithColleague: "You're now chatting with a colleague",
  chattingWith: "You're chatting with",
  conversation: 'Conversation',
  typing: 'Someone is typing',
  ownMessage: 'You:',
  operatorMessage: 'Us:',
  delivered: 'Delivered',
  sent: 'Sent',
  answerOptions: 'Answers',
  message: 'Message',
  writeMessage: 'Write a message',
  send: 'Send',
  sending: 'Sending…',
  notSent: (reason: string) => `Not sent. ${reason}`,
  remove: 'Remove',
  removeMessage: 'Remove message',
  removeFile: (name: string) => `Remove ${name}`,
  unreadMessages: (count: number) => plural(count, { one: '# new message', other: '# new messages' }),
  backToConversation: 'Back to the conversation',
  minimize: 'Minimize chat',
  endChat: 'End chat',
  confirmEnd: 'End this chat?',
  keepChatting: 'Keep chatting',
  startAgain: 'Start again',
  ok: 'OK',
  connectionLost: 'Connection lost. Reconnecting…',
  conversationEnds: {
    visitor_hung_up: 'You ended the conversation.',
    visitor_left: 'The conversation ended because your connection was lost.',
    operator_left: 'The conversation ended because we lost our connection.',
    error: 'The conversation ended because of an error.',
    operator_hung_up: 'The conversation has ended.',
  } satisfies Record<EndReason, string>,

  sendFile: 'Send a file',
  dropFiles: 'Drop files to send them',
  uploading: 'Uploading…',
  scanning: 'Scanning for viruses…',
  virus: 'A virus was found in this file.',
  fileWithSize: (name: string, size: string) => `${name} (${size})`,
  bytes: (count: string) => `${count} B`,
  kilobytes: (count: string) => `${count} KB`,
  megabytes: (count: string) => `${count} MB`,
  deletedFile: (name: string) => `${name} (deleted)`,
  downloadFile: (name: string) => `Download ${name}`,
  emptyFile: 'This file is empty.',
  tooLarge: (megabytes: number) => `This file is too large. The limit is ${megabytes} MB.`,
  wrongFileType: "This type of file can't be sent here.",
  wrongFileTypeOf: (allowed: string) => `This type of file can't be sent here. You can send ${allowed}.`,
  /** Names of content types: of whole families (`image/*`), and of subtypes whose name is not the usual one. */
  fileFamilies: { image: 'images', video: 'videos', text: 'text files' } as Readonly<Record<string, string>>,
  fileSubtypes: { plain: 'text files', mpeg: 'MP3', quicktime: 'MOV', webp: 'WebP' } as Readonly<
    Record<string, string>
  >,

  call: 'Call',
  requestCall: 'Request a call',
  requestVideoCall: 'Request a video call',
  callRequested: {
    audio: 'You requested a call…',
    video: 'You requested a video call…',
    one_way_video: 'You requested a video call…',
  } satisfies Record<CallKind, string>,
  cancelRequest: 'Cancel request',
  callInvitation: 'Call invitation',
  joinQuestion: {
    audio: 'Join a call?',
    video: 'Join a video call?',
    one_way_video: 'Join a video call? Only our camera will be on.',
  } satisfies Record<CallKind, string>,
  cannotCall: "We'd like to call you, but this browser can't make calls here.",
  accept: 'Accept',
  decline: 'Decline',
  callDeclined: noCall,
  callInProgress: 'Call in progress',
  videoCallInProgress: 'Video call in progress',
  joinAgain: 'Join again',
  backToChat: 'Back to chat',
  otherPerson: 'The other person',
  yourself: 'You',
  otherMuted: 'The other person is muted',
  microphoneOff: 'Your microphone is off',
  cameraOff: 'Your camera is off',
  mute: 'Mute',
  unmute: 'Unmute',
  turnCameraOff: 'Turn camera off',
  turnCameraOn: 'Turn camera on',
  chooseDevices: 'Choose devices',
  microphone: 'Microphone',
  camera: 'Camera',
  speaker: 'Speaker',
  hangUp: 'Hang up',
  otherLeft: 'The other person left the call. Waiting for them to come back…',
  waitingForPermission: 'Waiting for permission to use your microphone…',
  connectingCall: 'Connecting…',
  reconnectingCall: 'Call interrupted. Reconnecting…',
  callConnected: 'Call connected',
  callEnds: {
    hung_up: 'You hung up.',
    other_hung_up: 'The call has ended.',
    unanswered: "The call couldn't be connected.",
    lost: 'The call was interrupted.',
    closed: 'The call continues in another tab.',
  },
  ...callTexts,

  /** Announced by screen readers. */
  joinedAnnouncement: 'We have joined the chat.',
  messageAnnouncement: (content: string) => `New message: ${content}`,
  invitationAnnouncement: {
    audio: 'You are invited to a call.',
    video: 'You are invited to a video call.',
    one_way_video: 'You are invited to a video call.',
  } satisfies Record<CallKind, string>,
  endedAnnouncement: 'The chat has ended.',

  /** Why a request failed, by the code of the error. The server's own text is for developers. */
  unreachable: "We can't be reached right now. Please check your connection and try again.",
  unknownError: 'Something went wrong. Please try again.',
  errors: {
    engagement_ended: 'The conversation has ended.',
    invalid_request: "This can't be sent.",
    body_too_large: 'This is too large to send.',
    too_many: 'No more files can be sent in this conversation.',
    forbidden: "This isn't possible here.",
    file_deleted: 'This file has been deleted.',
    file_not_clean: "This file can't be downloaded.",
    file_elsewhere: "This file can't be downloaded right now. Please try again later.",
    operator_unavailable: noCall,
    request_ended: 'This is no longer possible.',
    rate_limited: tooManyRequests,
    address_limit: tooManyRequests,
    too_busy: tryLater,
    account_moving: tryLater,
    database_unavailable: tryLater,
    no_scanner: noFiles,
    storage_full: noFiles,
    storage_unavailable: noFiles,
    insufficient_storage: tryLater,
  },
  /** Why a visitor could not enter a queue, by the code of the refusal. */
  queueRefusals: {
    queue_closed: "We're closed right now. Please come back during our opening hours.",
    queue_unstaffed: 'No one is available right now. Please try again later, or choose another option.',
    queue_full: 'Too many people are waiting. Please try again in a few minutes.',
    address_limit: 'Too many requests from your network. Please try again in a minute.',
  },
};
