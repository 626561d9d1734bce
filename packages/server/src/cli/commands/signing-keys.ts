import { rotateSigningKey } from '../../identity/signing-keys.ts';
import { command } from '../command.ts';
import { withDatabase } from '../with-database.ts';

export const signingKeysRotate = command({
  help: `usher signing-keys rotate [--revoke]

  Signs new tokens with a new key. Existing tokens stay valid until they expire.

  --revoke   revoke every existing token: everybody has to sign in again
`,
  options: { revoke: { type: 'boolean', default: false } },
  async run(config, { revoke }) {
    await withDatabase(config, async (sql) => rotateSigningKey(sql, revoke ? 'revoke' : 'keep'));
    process.stdout.write(
      revoke
        ? 'All existing tokens are revoked. New tokens are signed with a new key.\n'
        : 'New tokens are signed with a new key.\n',
    );
  },
});
