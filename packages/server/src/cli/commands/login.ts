import { StartError } from '../../platform/errors.ts';
import { serverUrl } from '../../platform/server-url.ts';
import { withApi } from './api.ts';
import { command, print, UsageError } from '../command.ts';
import { baseUrl } from '../options.ts';
import { deleteProfile, writeProfile } from '../profile.ts';
import { readSecret } from '../read-secret.ts';

export const login = command({
  help: `usher login --key-id <id> [--url <url>] [--json]

  Asks for the secret of an API key, checks it, and keeps the key in a profile for the commands that call a server. The
  secret is read from the terminal without showing it, or from a pipe. Other users cannot read the profile.

  --key-id <id>   the id of the API key
  --url <url>     URL of the server; default: from HOST and PORT
  --json          print the result as JSON
`,
  options: {
    url: { type: 'string' },
    'key-id': { type: 'string' },
    json: { type: 'boolean', default: false },
  },
  async run({ host, port, profilePath: path }, { url: given = serverUrl(host, port), 'key-id': id, json }) {
    if (id === undefined) throw new UsageError('Give the id of an API key with --key-id.');
    const url = baseUrl(given);
    const secret = await readSecret(`Secret of the API key ${id}: `);
    if (secret === '') throw new StartError('No secret was given. Type it when asked, or pipe it to usher login.');
    const connection = { url, key: { id, secret } };
    // Signs in, so that a wrong key is not kept.
    await withApi(connection, async (api) => api.get('/operator_authentication/sessions/current'));
    writeProfile(path, connection);
    print(json, { url, key_id: id, profile: path }, `Logged in to ${url}. The key is kept in ${path}.\n`);
  },
});

export const logout = command({
  help: `usher logout [--json]

  Deletes the profile that usher login has written. The API key stays valid: delete it in the console to revoke it.
`,
  options: { json: { type: 'boolean', default: false } },
  async run({ profilePath: path }, { json }) {
    const deleted = deleteProfile(path);
    print(json, { deleted, profile: path }, deleted ? `Deleted ${path}.\n` : 'Nobody is logged in.\n');
  },
});
