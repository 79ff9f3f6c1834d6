import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './project-root.js';

// package.json is our own file. Only that of a release names its commit.
const { gitHead } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
  gitHead?: string;
};

/** Whether this is an installed release, which has no embedded server, and not a clone. */
export const IS_RELEASE = gitHead !== undefined;

/**
 * Returns how to run one of our commands here: `crossdock migrate --status` in a release, which needs no npm, and
 * `npm run migrate -- --status` in a clone.
 *
 * @param command the name of the command in a release, and its arguments
 */
export const commandLine = (command: string): string => commandLineIn(command, IS_RELEASE);

export function commandLineIn(command: string, isRelease: boolean): string {
  if (isRelease) return `crossdock ${command}`;
  const [name = '', ...given] = command.split(' ');
  const script = SCRIPTS[name] ?? name;
  return ['npm', 'run', script, ...(given.length > 0 ? ['--', ...given] : [])].join(' ');
}

/** The scripts of package.json whose name is not that of the command. */
const SCRIPTS: Record<string, string> = {
  'tenant-create': 'tenant:create',
  'tenant-move': 'tenant:move',
  'demo-load': 'demo:load',
  'reset-admin': 'admin:reset',
  'remove-published': 'published:remove',
  'restore-report': 'restore:report',
};

/**
 * For commands without arguments: what is typed behind them would be ignored.
 *
 * @returns one line, or undefined without arguments. It has no value, which may be a secret
 */
export function describeArguments(): string | undefined {
  const [argument] = process.argv.slice(2);
  return argument === undefined
    ? undefined
    : `The argument ${argument.split('=')[0]} is unknown, and nothing was started. Set settings as environment variables, before the command: PORT=8443 crossdock serve.`;
}

/** Whether the command was called to explain itself. Then it does nothing else and exits with 0. */
export const isHelpAsked = (): boolean =>
  process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h');
