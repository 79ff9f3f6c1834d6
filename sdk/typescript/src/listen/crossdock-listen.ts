import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import { CrossdockClient } from '../client.js';
import { CrossdockError } from '../errors.js';
import { describe, listen } from './listen.js';
import { HELP, OptionError, readOptions, type Options } from './options.js';

const WRONG_OPTIONS = 2;

void main(process.argv.slice(2)).then((status) => {
  process.exitCode = status;
});

async function main(args: string[]): Promise<number> {
  try {
    const options = readOptions(args);
    if (options) return await run(options);
    process.stdout.write(HELP);
    return 0;
  } catch (error) {
    // A programming error keeps its trace.
    if (!(error instanceof CrossdockError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return error instanceof OptionError ? WRONG_OPTIONS : 1;
  }
}

async function run({ to, courierId, ...range }: Options): Promise<number> {
  const { CROSSDOCK_WEBHOOK_SECRET: given, CROSSDOCK_API_TOKEN: apiToken } = process.env;
  if (given && !/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(given))
    throw new OptionError(
      'CROSSDOCK_WEBHOOK_SECRET must be whsec_ and base64, as in the settings of the courier.',
    );
  const secret = given || `whsec_${randomBytes(32).toString('base64')}`;
  const client = openClient();
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  if (!given) print(`The webhooks are signed with ${secret}`);
  const summary = await listen({
    feed: (filters) => client.events.list({ ...filters, ...(courierId ? { courier_id: courierId } : {}) }),
    receiver: { url: to, secret, ...(apiToken ? { apiToken } : {}) },
    range,
    print,
    stop: stopSignal(),
  });
  print(describe(summary));
  return summary.failed.length > 0 ? 1 : 0;
}

function openClient(): CrossdockClient {
  const { CROSSDOCK_URL: baseUrl, CROSSDOCK_TOKEN: token, ...rest } = process.env;
  if (!baseUrl)
    throw new OptionError('CROSSDOCK_URL is missing. crossdock-listen --help names the settings.');
  if (token) return new CrossdockClient({ baseUrl, token });
  const { CROSSDOCK_USERNAME: username, CROSSDOCK_PASSWORD: password } = rest;
  if (!username || !password)
    throw new OptionError('Set CROSSDOCK_TOKEN, or CROSSDOCK_USERNAME and CROSSDOCK_PASSWORD.');
  return new CrossdockClient({ baseUrl, username, password, secondFactor: askForCode });
}

async function askForCode(): Promise<string> {
  if (!process.stdin.isTTY)
    throw new CrossdockError(
      'The user has a second factor, and nobody can be asked for its code. Use a token.',
    );
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question('Code of the second factor: ')).trim();
  } finally {
    terminal.close();
  }
}

function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort());
  return controller.signal;
}
