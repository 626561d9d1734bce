import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** The processor time that a process has used since its start, with all its threads. */
export function processorSeconds(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks))
    return secondsOf(execFileSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' }));
  return readdirSync(tasks).reduce((sum, task) => sum + threadSeconds(`${tasks}/${task}/schedstat`), 0);
}

/** Nanoseconds, unlike `/proc/<pid>/stat`, whose ticks of 10 ms are too long for the many processes of PostgreSQL. */
function threadSeconds(schedstat: string): number {
  // A thread may have ended since its folder was listed.
  if (!existsSync(schedstat)) return 0;
  return Number(readFileSync(schedstat, 'utf8').split(' ', 1)[0]) / 1e9;
}

/** `1:02.50` */
function secondsOf(time: string): number {
  return time
    .trim()
    .split(':')
    .reduce((seconds, part) => seconds * 60 + Number(part), 0);
}
