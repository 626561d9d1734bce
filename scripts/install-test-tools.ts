import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { findBrowser } from '../test/support/browser.ts';
import { findFirefox } from '../test/support/firefox.ts';
import { findOldestPostgres, oldestMajor } from '../test/support/oldest-postgres.ts';
import { findProgram } from '../test/support/programs.ts';
import { findWebkit } from '../test/support/webkit.ts';

/**
 * What the tests need and npm does not bring. `npm test` runs this first: what is missing is installed where that is possible
 * (Debian's packages need root), and what cannot be had is named and fails the run. Without Firefox or WebKit, a developer's
 * run leaves their tests out; in CI it fails.
 */
type Command = readonly string[];

export interface Tool {
  readonly name: string;
  /** `null` where the tool is not installed. */
  readonly find: () => string | null;
  /** Commands that may bring the tool; they are tried in this order until it is found. */
  readonly ways: readonly Command[];
  /** What to do where none of them does. */
  readonly advice: string;
  /** Whether the tests that need it are left out where it is missing, except in CI. */
  readonly isOptional?: boolean;
}

const apt = (...names: readonly string[]): Command => ['apt-get', 'install', '-y', '--no-install-recommends', ...names];

const tools: readonly Tool[] = [
  {
    name: 'Chromium',
    find: findBrowser,
    ways: [
      [process.execPath, 'node_modules/playwright-core/cli.js', 'install', 'chromium-headless-shell'],
      apt('chromium-headless-shell'),
      apt('chromium'),
    ],
    advice: 'Install one, or name it by CHROMIUM.',
  },
  {
    name: `PostgreSQL ${oldestMajor}`,
    find: findOldestPostgres,
    ways: [apt(`postgresql-${oldestMajor}`)],
    advice: `Install it, or name the folder of its programs by POSTGRES_${oldestMajor}_BIN.`,
  },
  {
    name: 'PgBouncer',
    find: () => findProgram('pgbouncer'),
    ways: [apt('pgbouncer')],
    advice: 'Install it so that pgbouncer is on the PATH.',
  },
  {
    name: 'faketime',
    find: () => findProgram('faketime'),
    ways: [apt('faketime')],
    advice: 'Install it so that faketime is on the PATH.',
  },
  {
    name: 'NATS',
    find: () => findProgram('nats-server'),
    ways: [apt('nats-server')],
    advice: 'Install it so that nats-server is on the PATH.',
  },
  {
    name: 'Firefox',
    find: findFirefox,
    ways: [apt('firefox-esr')],
    advice: 'Install it so that firefox-esr or firefox is on the PATH.',
    isOptional: true,
  },
  {
    name: 'WebKit',
    find: findWebkit,
    ways: [apt('webkit2gtk-driver', 'xvfb')],
    advice: 'Install WebKitGTK so that WebKitWebDriver and Xvfb are on the PATH.',
    isOptional: true,
  },
];

export type RunCommand = (command: Command) => void;

/** Installs what is not there. Answers the tools that are still missing. */
export function installMissing(wanted: readonly Tool[], canUseApt: boolean, run: RunCommand): Tool[] {
  let isUpdated = false;
  for (const { name, find, ways } of wanted) {
    if (find() !== null) continue;
    console.log(`Installing ${name} for the tests; this takes a moment the first time.`);
    for (const way of ways) {
      const isApt = way[0] === 'apt-get';
      if (isApt && !canUseApt) continue;
      if (isApt && !isUpdated) run(['apt-get', 'update']);
      isUpdated ||= isApt;
      run(way);
      if (find() !== null) break;
    }
  }
  return wanted.filter(({ find }) => find() === null);
}

/** Whether a run without the tool fails. `.ci/run` sets CI, as CI services do. */
export function isRequired({ isOptional = false }: Tool, isCi: boolean): boolean {
  return isCi || !isOptional;
}

/** A command that does not come to an end must not hold up the tests. */
const longestMs = 240_000;

function runCommand([program = '', ...args]: Command): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'], timeout: longestMs, env });
}

/**
 * Debian's packages of servers start them. The tests start their own, so while apt runs a policy forbids services to start
 * (exit code 101 of policy-rc.d), and postgresql-common is told to make no cluster. Both files go afterwards.
 */
const whileInstalling: Readonly<Record<string, string>> = {
  '/usr/sbin/policy-rc.d': '#!/bin/sh\nexit 101\n',
  '/etc/postgresql-common/createcluster.d/usher-tests.conf': 'create_main_cluster = false\n',
};

function withoutServices(run: RunCommand): RunCommand {
  return (command) => {
    if (command[0] !== 'apt-get') return run(command);
    const written = Object.entries(whileInstalling).filter(([file]) => !existsSync(file));
    try {
      for (const [file, text] of written) {
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text, { mode: 0o755 });
      }
      return run(command);
    } finally {
      for (const [file] of written) rmSync(file, { force: true });
    }
  };
}

if (import.meta.main) {
  const canUseApt = process.getuid?.() === 0 && findProgram('apt-get') !== null;
  for (const tool of installMissing(tools, canUseApt, withoutServices(runCommand))) {
    const fails = isRequired(tool, (process.env['CI'] ?? '') !== '');
    const outcome = fails ? '' : ' Its tests are left out.';
    console.error(`${tool.name} was not found and could not be installed.${outcome} ${tool.advice}`);
    if (fails) process.exitCode = 1;
  }
}
