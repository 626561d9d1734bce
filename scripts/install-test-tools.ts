import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { findBrowser } from '../test/support/browser/browser.ts';
import { findFirefox } from '../test/support/browser/firefox.ts';
import { findOldestPostgres, oldestMajor } from '../test/support/database/oldest-postgres.ts';
import { findPatroni } from '../test/support/failover/programs.ts';
import { findProgram } from '../test/support/processes/programs.ts';
import { findWebkit } from '../test/support/browser/webkit.ts';

/**
 * The programs that tests need and npm does not install. `npm test` installs them in CI, where a missing tool fails the run, and with
 * `--install-tools`. Debian packages need root. Otherwise the tests that need a missing tool do not run.
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
  /** Matches the source of the test files that need the tool. Absent if they skip themselves. */
  readonly usedBy?: RegExp;
}

const apt = (...names: readonly string[]): Command => ['apt-get', 'install', '-y', '--no-install-recommends', ...names];

/** Modules of `test/support` that open Chromium. */
const usesBrowser = /\/support\/browser\/(?:browser|console|widget|desk|caller)\.ts'/;

/** Modules of `test/support` that start PostgreSQL under Patroni. */
const usesPatroni = /\/support\/failover\//;

export const tools: readonly Tool[] = [
  {
    name: 'Chromium',
    usedBy: usesBrowser,
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
    usedBy: /\bstartOldestPostgres\b|\bstartTestPostgres\([^)]*'oldest'\)|\/support\/failover\//,
    find: findOldestPostgres,
    installers: [apt(`postgresql-${oldestMajor}`)],
    advice: `Install it, or set POSTGRES_${oldestMajor}_BIN to the folder of its programs.`,
  },
  {
    name: 'PgBouncer',
    usedBy: /\/support\/database\/pgbouncer\.ts'/,
    find: () => findProgram('pgbouncer'),
    installers: [apt('pgbouncer')],
    advice: 'Install it so that pgbouncer is on the PATH.',
  },
  {
    name: 'faketime',
    usedBy: /\bfaketime\b|\/stepped-clocks\.ts'/,
    find: () => findProgram('faketime'),
    installers: [apt('faketime')],
    advice: 'Install it so that faketime is on the PATH.',
  },
  {
    name: 'NATS',
    usedBy: /\/support\/receivers\/nats\.ts'/,
    find: () => findProgram('nats-server'),
    installers: [apt('nats-server')],
    advice: 'Install it so that nats-server is on the PATH.',
  },
  {
    name: 'nginx',
    usedBy: /\/support\/network\/reverse-proxies\.ts'/,
    find: () => findProgram('nginx'),
    installers: [apt('nginx-light'), apt('nginx')],
    advice: 'Install it so that nginx is on the PATH.',
  },
  {
    name: 'HAProxy',
    usedBy: /\/support\/network\/reverse-proxies\.ts'|\/support\/failover\//,
    find: () => findProgram('haproxy'),
    installers: [apt('haproxy')],
    advice: 'Install it so that haproxy is on the PATH.',
  },
  {
    name: 'Patroni',
    usedBy: usesPatroni,
    find: findPatroni,
    installers: [apt('patroni', 'python3-etcd')],
    advice: 'Install it, with the Python package etcd, so that patroni is on the PATH.',
  },
  {
    name: 'etcd',
    usedBy: usesPatroni,
    find: () => findProgram('etcd'),
    installers: [apt('etcd-server')],
    advice: 'Install it so that etcd is on the PATH.',
  },
  {
    name: 'promtool',
    find: () => findProgram('promtool'),
    installers: [apt('prometheus')],
    advice: 'Install Prometheus so that promtool is on the PATH.',
  },
  {
    name: 'Firefox',
    find: findFirefox,
    installers: [apt('firefox-esr')],
    advice: 'Install it so that firefox-esr or firefox is on the PATH.',
  },
  {
    name: 'WebKit',
    find: findWebkit,
    installers: [apt('webkit2gtk-driver', 'xvfb')],
    advice: 'Install WebKitGTK so that WebKitWebDriver and Xvfb are on the PATH.',
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

/** `.ci/run` sets CI, as CI services do. */
const isCi = (process.env['CI'] ?? '') !== '';

/** The test files that can run without these tools. */
export function withoutTools(files: readonly string[], missing: readonly Tool[]): string[] {
  const patterns = missing.flatMap(({ usedBy }) => usedBy ?? []);
  return files.filter((file) => {
    const source = readFileSync(file, 'utf8');
    return !patterns.some((pattern) => pattern.test(source));
  });
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

/** Installs missing tools where that is wanted, and names those that are still missing. */
export function prepareTools(isAskedFor: boolean): { missing: Tool[]; isComplete: boolean } {
  const canUseApt = process.getuid?.() === 0 && findProgram('apt-get') !== null;
  const mayInstall = isCi || isAskedFor;
  if (mayInstall) installMissing(tools, canUseApt, withoutServices(runCommand));
  const missing = tools.filter(({ find }) => find() === null);
  for (const { name, advice } of missing)
    console.error(`${name} was not found${mayInstall ? ' and could not be installed' : ''}. ${advice}`);
  if (missing.length > 0 && !mayInstall)
    console.error('Tests that need these do not run. To install them, run as root: npm test -- --install-tools');
  return { missing, isComplete: missing.length === 0 || !isCi };
}
