import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { findBrowser } from '../test/support/browser.ts';
import { findFirefox } from '../test/support/firefox.ts';
import { findOldestPostgres, oldestMajor } from '../test/support/oldest-postgres.ts';
import { findProgram } from '../test/support/programs.ts';
import { findWebkit } from '../test/support/webkit.ts';

/**
 * Installs the programs that the tests need and npm does not install. `npm test` runs this first. Debian packages need root.
 * A tool that cannot be installed fails the run. Firefox and WebKit are optional outside CI: without them their tests are
 * skipped.
 */
type Command = readonly string[];

export interface Tool {
  readonly name: string;
  /** Returns `null` if the tool is not installed. */
  readonly find: () => string | null;
  /** Commands that may install the tool, tried in this order until it is found. */
  readonly installers: readonly Command[];
  /** What the developer can do if no command installs the tool. */
  readonly advice: string;
  /** Whether the tests that need the tool are skipped without it, except in CI. */
  readonly isOptional?: boolean;
}

const apt = (...names: readonly string[]): Command => ['apt-get', 'install', '-y', '--no-install-recommends', ...names];

const tools: readonly Tool[] = [
  {
    name: 'Chromium',
    find: findBrowser,
    installers: [
      [process.execPath, 'node_modules/playwright-core/cli.js', 'install', 'chromium-headless-shell'],
      apt('chromium-headless-shell'),
      apt('chromium'),
    ],
    advice: 'Install it, or set CHROMIUM to its path.',
  },
  {
    name: `PostgreSQL ${oldestMajor}`,
    find: findOldestPostgres,
    installers: [apt(`postgresql-${oldestMajor}`)],
    advice: `Install it, or set POSTGRES_${oldestMajor}_BIN to the folder of its programs.`,
  },
  {
    name: 'PgBouncer',
    find: () => findProgram('pgbouncer'),
    installers: [apt('pgbouncer')],
    advice: 'Install it so that pgbouncer is on the PATH.',
  },
  {
    name: 'faketime',
    find: () => findProgram('faketime'),
    installers: [apt('faketime')],
    advice: 'Install it so that faketime is on the PATH.',
  },
  {
    name: 'NATS',
    find: () => findProgram('nats-server'),
    installers: [apt('nats-server')],
    advice: 'Install it so that nats-server is on the PATH.',
  },
  {
    name: 'promtool',
    find: () => findProgram('promtool'),
    installers: [apt('prometheus')],
    advice: 'Install Prometheus so that promtool is on the PATH.',
    isOptional: true,
  },
  {
    name: 'Firefox',
    find: findFirefox,
    installers: [apt('firefox-esr')],
    advice: 'Install it so that firefox-esr or firefox is on the PATH.',
    isOptional: true,
  },
  {
    name: 'WebKit',
    find: findWebkit,
    installers: [apt('webkit2gtk-driver', 'xvfb')],
    advice: 'Install WebKitGTK so that WebKitWebDriver and Xvfb are on the PATH.',
    isOptional: true,
  },
];

export type RunCommand = (command: Command) => void;

/** Installs missing tools. Returns the tools that are still missing. */
export function installMissing(required: readonly Tool[], canUseApt: boolean, run: RunCommand): Tool[] {
  let isUpdated = false;
  for (const { name, find, installers } of required) {
    if (find() !== null) continue;
    console.log(`Installing ${name} for the tests; this takes a moment the first time.`);
    for (const installer of installers) {
      const isApt = installer[0] === 'apt-get';
      if (isApt && !canUseApt) continue;
      if (isApt && !isUpdated) run(['apt-get', 'update']);
      isUpdated ||= isApt;
      run(installer);
      if (find() !== null) break;
    }
  }
  return required.filter(({ find }) => find() === null);
}

/** Whether a run without the tool fails. `.ci/run` sets CI, as CI services do. */
export function isRequired({ isOptional = false }: Tool, isCi: boolean): boolean {
  return isCi || !isOptional;
}

/** A command that hangs must not block the tests. */
const maxCommandMs = 240_000;

function runCommand([program = '', ...args]: Command): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'], timeout: maxCommandMs, env });
}

/**
 * Debian packages of servers start their service, but the tests start their own servers. While apt runs, these files forbid
 * services to start (exit code 101 of policy-rc.d) and keep postgresql-common from making a cluster. They are deleted afterwards.
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
    const consequence = fails ? '' : ' Its tests are skipped.';
    console.error(`${tool.name} was not found and could not be installed.${consequence} ${tool.advice}`);
    if (fails) process.exitCode = 1;
  }
}
