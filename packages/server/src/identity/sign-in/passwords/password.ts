import Type from 'typebox';

/** NIST's limits, a little longer at the short end: length is what counts, and there are no rules of which characters. */
const fewest = 12;
const most = 256;
/** `aaaaaaaaaaaa` and `121212121212` are long too. */
const fewestDifferent = 5;

export const newPassword = Type.String({
  minLength: fewest,
  maxLength: most,
  description: `${fewest} to ${most} characters; not one of the usual ones, nor the own name or e-mail address`,
});
/** One that is only compared: which may be chosen is said where it is. */
export const givenPassword = Type.String({ minLength: 1, maxLength: most });

/** Those of the usual ones that are long enough to be chosen. */
const usual = new Set([
  'password1234',
  'password12345',
  'password123456',
  'password123!',
  'password1234!',
  'passwordpassword',
  'passw0rdpassw0rd',
  'p@ssw0rd1234',
  'mypassword123',
  'changeme1234',
  'changemechangeme',
  'letmeinletmein',
  'letmein12345',
  'welcome12345',
  'welcome123456',
  'welcomewelcome',
  'administrator',
  'administrator1',
  'adminadminadmin',
  'admin1234567',
  'admin12345678',
  'iloveyou1234',
  'iloveyouiloveyou',
  'qwertyuiop12',
  'qwertyuiop123',
  'qwertyuiop[]',
  'qwertyuiopasdfghjkl',
  'qwerty123456',
  'qwerty1234567',
  'qwertyqwerty',
  'qwerty12345678',
  '1q2w3e4r5t6y',
  '1q2w3e4r5t6y7u8i',
  '1qaz2wsx3edc',
  '1qaz2wsx3edc4rfv',
  'zaq12wsxcde3',
  'zxcvbnm12345',
  'asdfghjkl123',
  'abcdefghijkl',
  'abcdefghijklmnop',
  'abcdefghijklmnopqrstuvwxyz',
  'abcd12345678',
  'abc123456789',
  'abc123abc123',
  '123456789012',
  '1234567890123',
  '12345678901234',
  '123456789012345',
  '1234567890123456',
  '012345678910',
  '123456789abc',
  '123456789qwe',
  '123456qwerty',
  '210987654321',
  '098765432109',
  'correct horse battery staple',
  'correcthorsebatterystaple',
  'monkeymonkey',
  'dragondragon',
  'football1234',
  'baseball1234',
  'superman1234',
  'sunshine1234',
  'princess1234',
  'trustno1trustno1',
  'unbelievable',
]);

interface Whose {
  readonly name: string;
  readonly email: string;
}

/** The same characters however a keyboard has put them together: what is hashed and compared. */
export function normalized(password: string): string {
  return password.normalize('NFKC');
}

/** What speaks against choosing this one; `null`: nothing does. */
export function weakness(password: string, { name, email }: Whose): string | null {
  const text = normalized(password);
  const plain = text.toLowerCase().trim();
  if (Array.from(text).length < fewest) return `must have at least ${fewest} characters`;
  if (new Set(text).size < fewestDifferent) return `must have at least ${fewestDifferent} different characters`;
  if (usual.has(plain)) return 'is one of the passwords that are tried first';
  if ([name, email].some((known) => normalized(known).toLowerCase().trim() === plain))
    return 'must not be the name or the e-mail address of the operator';
  return null;
}
