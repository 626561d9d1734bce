import { join } from 'node:path';
import { StartError } from '../../platform/errors.ts';
import type { Config } from '../../config.ts';
import { withApi, type Api } from '../commands/api.ts';
import { changesExitCode, command, print } from '../command.ts';
import { connectionOf, serverOptions } from '../options.ts';
import { applyPlan } from './apply.ts';
import { findEffects, type Effects } from './effects.ts';
import { makeFolders, parseFiles, readTexts, renderFiles, siteFilesOf } from './files.ts';
import { describeChange, label, makePlan, type Plan } from './plan.ts';
import { readServer } from './read-server.ts';
import { ServerNames } from './references.ts';
import { hashOf, readState, versionsOf, writeState, writeWhole } from './state.ts';

const commonHelp = `  --json                print JSON
  --url <url>           URL of the server; default: that of the profile, or from HOST and PORT
  --key-id, --key-secret   API key; default: USHER_ADMIN_KEY_ID and USHER_ADMIN_KEY_SECRET, or the profile (usher login)
`;

export const configPull = command({
  help: `usher config pull <dir> [--force] …

  Writes sites, teams, hours, queues with rankings, and webhooks as YAML into a folder.
  Only sites are written on which the key is super_manager. Secrets stay on the server.

  --force               overwrite files that have changes which are not applied
${commonHelp}`,
  options: { ...serverOptions, force: { type: 'boolean', default: false } },
  arguments: ['<dir>'],
  async run(config, flags, folder = '') {
    await withApi(connectionOf(config, flags), async (api) => pull(api, folder, flags));
  },
});

async function pull(
  api: Api,
  folder: string,
  flags: { readonly json: boolean; readonly force: boolean },
): Promise<void> {
  const state = readState(folder);
  const texts = readTexts(folder);
  if (!flags.force) {
    const edited = [...texts].filter(([path, text]) => state.files[path] !== hashOf(text)).map(([path]) => path);
    if (edited.length > 0)
      throw new StartError(
        `${edited.join(', ')}: there are changes that are not applied. Commit them, then overwrite the files with --force and merge.`,
      );
  }
  const server = await readServer(api);
  // With --force a file may be broken; then it does not tell which site it is of.
  const siteFiles = flags.force ? siteFilesOrNone(texts) : siteFilesOf(parseFiles(texts));
  const files = renderFiles(server, new ServerNames(server), siteFiles);
  makeFolders(folder);
  for (const [path, text] of files) writeWhole(join(folder, path), text);
  const leftOver = [...texts.keys()].filter((path) => !files.has(path));
  writeState(folder, {
    versions: Object.assign({}, ...server.things.map(versionsOf)) as Record<string, string>,
    created: {},
    files: Object.fromEntries([...files].map(([path, text]) => [path, hashOf(text)])),
  });
  const notes = [
    ...server.otherSites.map((name) => `Left out: site ${name}, on which your key is not super_manager.\n`),
    ...leftOver.map((path) => `${path} belongs to no site that your key may change. Delete it if its site is gone.\n`),
  ];
  process.stderr.write(notes.join(''));
  const paths = [...files.keys()];
  print(flags.json, { files: paths }, paths.map((path) => `wrote ${join(folder, path)}\n`).join(''));
}

function siteFilesOrNone(texts: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  try {
    return siteFilesOf(parseFiles(texts));
  } catch (error) {
    if (error instanceof StartError) return new Map();
    throw error;
  }
}

const planOptions = { ...serverOptions, delete: { type: 'boolean', default: false } } as const;
const deleteHelp = '  --delete              delete what is not in the files (never sites)\n';

export const configPlan = command({
  help: `usher config plan <dir> [--delete] …

  Shows how the files differ from the server, and what the difference means for queues and visitors now.
  The exit code is 0 without a difference, 2 with one, and 1 after an error.

${deleteHelp}${commonHelp}`,
  options: planOptions,
  arguments: ['<dir>'],
  async run(config, flags, folder = '') {
    await withPlan(config, flags, folder, async ({ plan, effects }) => {
      print(flags.json, jsonOf(plan, effects), textOf(plan, effects, flags.delete));
      if (plan.changes.length > 0) process.exitCode = changesExitCode;
      await Promise.resolve();
    });
  },
});

export const configApply = command({
  help: `usher config apply <dir> [--delete] …

  Changes the server so that it is as the files say. Nothing is changed if somebody changed one of these things on
  the server since the last pull or apply, or if the server would refuse something. It may be repeated at any time.

${deleteHelp}${commonHelp}`,
  options: planOptions,
  arguments: ['<dir>'],
  async run(config, flags, folder = '') {
    await withPlan(config, flags, folder, async ({ plan, effects, api }) => {
      refuseUnsafe(plan, effects);
      const state = readState(folder);
      const say = flags.json ? process.stderr : process.stdout;
      await applyPlan(plan, {
        api,
        folder,
        state,
        onChange: (change, made) => {
          say.write(`${describeChange(change)}\n`);
          if (change.kind === 'webhook' && change.action === 'create')
            say.write(`  Get its secret with POST /webhooks/${made?.id ?? ''}/rotate_secret or in the console.\n`);
        },
      });
      for (const [path, text] of readTexts(folder)) state.files[path] = hashOf(text);
      writeState(folder, state);
      const count = plan.changes.length;
      print(
        flags.json,
        jsonOf(plan, effects),
        count === 0 ? 'Nothing to do.\n' : count === 1 ? '1 change was made.\n' : `${count} changes were made.\n`,
      );
    });
  },
});

function refuseUnsafe({ conflicts }: Plan, { refusals }: Effects): void {
  if (conflicts.length > 0)
    throw new StartError(`Nothing was changed: ${conflicts.join('; ')}. Pull, merge your changes and plan again.`);
  if (refusals.length > 0)
    throw new StartError(`Nothing was changed, because the server would refuse: ${refusals.join('; ')}.`);
}

interface Planned {
  readonly plan: Plan;
  readonly effects: Effects;
  readonly api: Api;
}

interface PlanFlags {
  readonly delete: boolean;
  readonly url?: string | undefined;
  readonly 'key-id'?: string | undefined;
  readonly 'key-secret'?: string | undefined;
}

async function withPlan(
  config: Config,
  flags: PlanFlags,
  folder: string,
  work: (planned: Planned) => Promise<void>,
): Promise<void> {
  const state = readState(folder);
  const files = parseFiles(readTexts(folder));
  if (files.things.length === 0 && files.complete.length === 0)
    throw new StartError(`${folder} has no configuration. Write it with usher config pull ${folder}.`);
  await withApi(connectionOf(config, flags), async (api) => {
    const server = await readServer(api);
    const names = new ServerNames(server);
    const plan = makePlan({ files, server, names, state, deletes: flags.delete });
    await work({ plan, effects: await findEffects(api, plan, { server, names }), api });
  });
}

function textOf({ changes, unlisted, conflicts }: Plan, { effects, refusals }: Effects, deletes: boolean): string {
  const lines = [
    ...changes.map(describeChange),
    ...(changes.length === 0 ? ['Nothing to do.'] : []),
    ...section('Effects:', effects),
    ...section('The server would refuse, so apply changes nothing:', refusals),
    ...section('Changed on the server, so apply changes nothing until you pull and merge:', conflicts),
    ...section(
      'On the server and not in the files (kept; --delete deletes them):',
      deletes ? [] : unlisted.map(({ kind, name, id }) => `${label(kind, name, null)} ${id}`),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];

function jsonOf({ changes, unlisted, conflicts }: Plan, { effects, refusals }: Effects): unknown {
  return {
    changes: changes.map(({ action, kind, target, name, siteName, fields }) => ({
      action,
      kind,
      id: target?.id ?? null,
      name,
      site: siteName,
      // Headers may contain a secret.
      fields: fields.map(({ field, before, after }) => (field === 'headers' ? { field } : { field, before, after })),
    })),
    unlisted: unlisted.map(({ kind, id, name }) => ({ kind, id, name })),
    conflicts,
    effects,
    refusals,
  };
}
