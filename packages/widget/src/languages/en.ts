import type { Media } from '@usher/call/media';
import { callTexts } from '@usher/call/texts';
import type { EndReason, TicketState } from '@usher/contract/states';
import type { Medium } from '../media.ts';

const later = "This isn't possible right now. Please try again later.";
const tooFast = 'That was too much at once. Please try again in a moment.';
const noFiles = "Files can't be sent right now. Please try again later.";
const cancelled = 'Your request was cancelled. You can ask again.';

/**
 * What the widget says in English. Another language is another file here, named by its tag (`de.ts`) and typed `Words`: it is used
 * on pages whose `lang` is that tag.
 */
export const words = {
  /** How times and dates are written. */
  locale: 'en',

  title: 'Chat with us',
  greeting: 'How would you like to talk to us?',
  media: { text: 'Chat', audio: 'Call', video: 'Video call' } satisfies Record<Medium, string>,
  oneMoment: 'One moment…',
  yourName: 'Your name (optional)',
  offline: "We're offline right now.",
  back: (when: string) => `We're back ${when}.`,
  atTime: (time: string) => `at ${time}`,
  tomorrowAt: (time: string) => `tomorrow at ${time}`,
  onDayAt: (day: string, time: string) => `on ${day} at ${time}`,

  looking: 'Looking for somebody to help you',
  numberInLine: (position: number) => `You are number ${position} in line`,
  nextInLine: 'You are next in line',
  firstInLine: 'You are first in line',
  connectingYou: 'Connecting you now…',
  lessThanMinute: 'Usually less than a minute',
  aboutMinutes: (minutes: number) => `About ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`,
  aboutHours: (hours: number) => `About ${hours} ${hours === 1 ? 'hour' : 'hours'}`,
  keepOpen: 'Keep this site open to hold your place.',
  stopWaiting: 'Stop waiting',
  /** Why a ticket ended without anybody having been found. */
  outcomes: {
    unstaffed: "We're offline right now. Please try again later.",
    expired: 'Nobody was free in time. We are sorry. You can try once more.',
    visitor_left: 'The connection was lost for too long, so your place was given up. You can ask again.',
    canceled: cancelled,
    waiting: cancelled,
    offered: cancelled,
    engaged: cancelled,
  } satisfies Record<TicketState, string>,

  connected: 'You are connected.',
  nowWith: (name: string | undefined) => `You're now chatting with ${name ?? 'another colleague'}`,
  chattingWith: "You're chatting with",
  conversation: 'Conversation',
  typing: 'Somebody is typing',
  you: 'You:',
  us: 'Us:',
  delivered: 'Delivered',
  sent: 'Sent',
  answers: 'Answers',
  message: 'Message',
  writeMessage: 'Write a message',
  send: 'Send',
  sending: 'Sending…',
  notSent: (why: string) => `Not sent. ${why}`,
  remove: 'Remove',
  removeMessage: 'Remove the message',
  removeFile: (name: string) => `Remove ${name}`,
  unread: (count: number) => `new ${count === 1 ? 'message' : 'messages'}`,
  backToConversation: 'Back to the conversation',
  hideWindow: 'Hide this window',
  endChat: 'End chat',
  confirmEnd: 'End this chat?',
  keepChatting: 'Keep chatting',
  startAgain: 'Start again',
  ok: 'OK',
  connectionLost: 'The connection was lost. Trying to get it back…',
  /** How the conversation ended. */
  ends: {
    visitor_hung_up: 'You ended the conversation.',
    visitor_left: 'The conversation ended because your connection was lost.',
    operator_left: 'The conversation ended: our side lost its connection.',
    error: 'The conversation ended because of a fault.',
    operator_hung_up: 'The conversation has ended.',
  } satisfies Record<EndReason, string>,
  endedBeforeSent: 'The conversation ended before it was sent.',

  sendFile: 'Send a file',
  dropFiles: 'Drop files to send them',
  uploading: 'Uploading…',
  scanning: 'Being checked for viruses…',
  virus: 'A virus was found in this file.',
  deletedFile: (name: string) => `${name} (deleted)`,
  downloadFile: (name: string) => `Download ${name}`,
  emptyFile: 'This file is empty.',
  tooLarge: (megabytes: number) => `This file is too large. The limit is ${megabytes} MB.`,
  wrongKind: "This kind of file can't be sent here.",
  rightKinds: (kinds: readonly string[]) => {
    const others = kinds.slice(0, -1).join(', ');
    return `You can send ${[others, kinds.at(-1)].filter(Boolean).join(' and ')}.`;
  },
  /** Families and subtypes of content types that have a name of their own. */
  fileFamilies: { image: 'images', video: 'videos', text: 'text files' } as Readonly<Record<string, string>>,
  fileKinds: { plain: 'text files', mpeg: 'MP3', quicktime: 'MOV', webp: 'WebP' } as Readonly<Record<string, string>>,

  call: 'Call',
  askForCall: 'Ask for a call',
  askForVideo: 'Ask for a video call',
  asked: (media: string) => `You have asked for ${media}…`,
  neverMind: 'Never mind',
  invitation: 'Invitation to a call',
  invited: (media: string) => `We would like to switch to ${media}.`,
  isAllRight: 'Is that all right?',
  cannotCall: 'This browser cannot make calls here.',
  accept: 'Accept',
  decline: 'Decline',
  callDeclined: 'This is not possible now. You can go on by chat.',
  mediaInWords: ({ audio, video }: Media) => {
    if (video === 'two_way') return 'a video call';
    if (video === 'one_way') return 'a video call in which only we are seen';
    return audio === null ? 'a chat' : 'a call';
  },
  callInProgress: 'Call in progress',
  videoInProgress: 'Video call in progress',
  joinAgain: 'Join again',
  backToChat: 'Back to chat',
  otherSide: 'The other side',
  yourself: 'Yourself',
  otherMuted: 'They are muted',
  cameraOff: 'Your camera is off',
  mute: 'Mute yourself',
  unmute: 'Unmute yourself',
  turnCameraOff: 'Turn the camera off',
  turnCameraOn: 'Turn the camera on',
  chooseDevices: 'Choose devices',
  microphone: 'Microphone',
  camera: 'Camera',
  speaker: 'Speaker',
  hangUp: 'Hang up',
  otherLeft: 'They left the call. Waiting for them to come back…',
  askingMicrophone: 'Asking for your microphone…',
  connectingCall: 'Connecting the call…',
  reconnectingCall: 'The call is interrupted. Reconnecting…',
  callConnected: 'The call is connected',
  callEnds: {
    hung_up: 'You hung up.',
    other_hung_up: 'The call has ended.',
    unanswered: 'The call could not be connected.',
    lost: 'The call was lost.',
    closed: 'The call goes on in another tab.',
  },
  ...callTexts,

  /** For screen readers. */
  joined: 'We have joined the chat.',
  newMessage: (content: string) => `New message: ${content}`,
  youAreInvited: (media: string) => `You are invited to ${media}.`,
  over: 'The chat is over.',

  /** Why something failed, by the code of the problem: what the server says of it is for developers. */
  unreachable: "We can't be reached right now. Please check your connection and try again.",
  wentWrong: 'Something went wrong. Please try again.',
  problems: {
    engagement_ended: 'The conversation has ended.',
    invalid_request: "This can't be sent.",
    body_too_large: 'This is too large to be sent.',
    too_many: 'No more files can be sent in this conversation.',
    forbidden: "This isn't possible here.",
    file_deleted: 'This file has been deleted.',
    file_not_clean: "This file can't be downloaded.",
    file_elsewhere: "This file can't be downloaded right now. Please try again later.",
    operator_unavailable: later,
    request_ended: 'This is no longer possible.',
    rate_limited: tooFast,
    address_limit: tooFast,
    too_busy: later,
    database_unavailable: later,
    no_scanner: noFiles,
    storage_full: noFiles,
    storage_unavailable: noFiles,
    insufficient_storage: later,
  },
  /** Why asking for somebody was refused, where that says more. */
  refusals: {
    queue_closed: 'We are closed now. Please come back during our opening hours.',
    queue_unstaffed: 'Nobody is here for this now. Please try again later, or choose another way.',
    queue_full: 'Too many people are waiting already. Please try again in a few minutes.',
    address_limit: 'Too many people on your network are asking at the moment. Please try again in a minute.',
  },
};
