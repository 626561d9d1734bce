/** A short conversation. The sides take turns, the visitor first. */
export interface Script {
  readonly visitor: readonly string[];
  readonly operator: readonly OperatorLine[];
}

export interface OperatorLine {
  readonly text: string;
  readonly options?: readonly string[];
}

const line = (text: string, ...options: readonly string[]): OperatorLine =>
  options.length === 0 ? { text } : { text, options };

export const scripts: readonly [Script, ...Script[]] = [
  {
    visitor: ['Hi, my parcel was due yesterday. Where is it?', 'It is 48-1123.', 'Great, thank you. Bye!'],
    operator: [
      line('Hello! Let me have a look. What is the order number?'),
      line('It left the depot this morning and will arrive today before six.'),
      line('Have a nice day!'),
    ],
  },
  {
    visitor: ['Does the blue tent stand up to heavy rain?', 'A weekend, in October.', 'Perfect, I will take that one.'],
    operator: [
      line('It does for a while. What do you need it for?', 'A weekend', 'A long journey', 'The garden'),
      line('Then take the green one: it has a second wall, and is 20 % off until Sunday.'),
      line('Good choice. Anything else?'),
    ],
  },
  {
    visitor: ['I was charged twice for one order 😕', 'Visa, ending 4242.', 'Phew. Thanks for the quick help!'],
    operator: [
      line('I am sorry! Which card was it?'),
      line('I see it. The second charge is only reserved, and is released within two days.'),
      line('You are welcome.'),
    ],
  },
  {
    visitor: ['Can I exchange shoes that I have worn once?', 'Indoors only.', 'Thanks, that is very kind.'],
    operator: [
      line('Usually yes. Where did you wear them?', 'Indoors only', 'Outdoors'),
      line('Then that is no problem. I have e-mailed you a return label.'),
      line('You are welcome!'),
    ],
  },
  {
    visitor: ['¿Hablan español?', 'OK, English then. Is there a shop in Lyon?', 'Merci ! À bientôt.'],
    operator: [
      line('Un poco 🙂 English or French would be better.'),
      line('Yes, at 12 rue de la République, open until seven.'),
      line('À bientôt !'),
    ],
  },
];

/** Lines for conversations that continue after the script. */
export const operatorFillers: readonly [string, ...string[]] = [
  'I am a sample operator, so my answers are limited.',
  'One moment, please.',
  'Could you tell me more about that?',
  'I have noted it down.',
];
