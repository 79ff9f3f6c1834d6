import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { environment } from '../config/command-settings.js';
import { findMisspelt } from '../startup/shared-checks/misspelt-settings.js';
import { surveyConfig } from '../config/config.js';
import { UPGRADE_CODES } from '../platform/db/migrations/upgrade.js';
import { readSecretValues, type SecretValues } from '../startup/doctor/secrets/secret-values.js';
import type { ComparedReport } from '../startup/doctor/checks/subject.js';
import { hashSecrets } from '../startup/doctor/secrets/secret-hashes.js';
import { examine } from '../startup/doctor/doctor.js';
import { toJson, toLines } from '../startup/doctor/report.js';
import { describeMissingSettings } from '../startup/doctor/missing-settings.js';
import { examineUpgrade } from '../startup/doctor/upgrade.js';
import { commandLine, isHelpAsked } from '../config/commands.js';
import { allowClosedOutput } from './run/closed-output.js';
import { describeArgumentFault } from './run/script.js';

// npm run doctor: examines the installation that the settings describe. Exit code 0 without a problem, 1 with one, 2 if it
// cannot run. With --upgrade: 0 rolling, 3 needs a stop, 4 wait for a background migration, 5 unsupported.

const USAGE = `${commandLine('doctor [--json] [--servers 1] [--workers 0] [--compare FILE] [--thorough] [--proxy HOST:PORT]')}
${commandLine('doctor --upgrade [--from VERSION] [--json]')}`;

const LOW_DISK_BYTES = 1_000_000_000;
const CANNOT_RUN = 2;

const print = (line: string) => process.stdout.write(`${line}\n`);

allowClosedOutput();
if (isHelpAsked()) print(`Usage: ${USAGE}`);
else await run();

async function run(): Promise<void> {
  try {
    const options = readOptions();
    process.exitCode = options.upgrade ? await reportUpgrade(options) : await reportState(options);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${describeArgumentFault(error, USAGE) ?? reason}\n`);
    process.exitCode = CANNOT_RUN;
  }
}

type Options = ReturnType<typeof readOptions>;

function readOptions() {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      upgrade: { type: 'boolean', default: false },
      from: { type: 'string' },
      compare: { type: 'string' },
      thorough: { type: 'boolean', default: false },
      servers: { type: 'string', default: '1' },
      workers: { type: 'string', default: '0' },
      proxy: { type: 'string' },
    },
  });
  const counts = [values.servers, values.workers];
  if (!counts.every((count) => /^\d{1,4}$/.test(count)) || (values.from !== undefined && !values.upgrade))
    throw new Error(USAGE);
  return values;
}

async function reportState({ json, servers, workers, compare, thorough, proxy }: Options): Promise<number> {
  const secrets = readSecretValues(environment());
  const other = compare === undefined ? undefined : await readReport(compare, secrets);
  const survey = surveyConfig();
  const missing = await describeMissingSettings(environment(), survey.config.dataDir);
  if (missing) throw new Error(missing);
  const report = await examine({
    ...survey,
    misspelt: findMisspelt(environment()),
    now: () => new Date(),
    servers: Number(servers),
    workers: Number(workers),
    lowDiskBytes: LOW_DISK_BYTES,
    isThorough: thorough,
    proxy: proxy === undefined ? undefined : addressOf(proxy),
    other,
  });
  if (json) print(toJson(report, await hashSecrets(secrets)));
  else for (const line of toLines(report)) print(line);
  return report.lines.some(({ level }) => level === 'problem') ? 1 : 0;
}

/** Parses `host`, `host:port`, `192.0.2.1:port` or `[2001:db8::1]:port`. The port is 443 by default. */
function addressOf(text: string): { host: string; port: number } {
  const url = `https://${text}`;
  if (!/^(\[[0-9a-f:.]+\]|[\w.-]+)(:\d{1,5})?$/i.test(text) || !URL.canParse(url)) throw new Error(USAGE);
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443) };
}

/** Reads a `--json` report of this or another deployment, or the standard input with -. */
async function readReport(path: string, own: SecretValues): Promise<ComparedReport> {
  // The report was written by this program.
  const { deployment, secrets } = JSON.parse(
    path === '-' ? await text(process.stdin) : await readFile(path, 'utf8'),
  ) as Partial<ComparedReport>;
  if (!deployment?.fingerprints)
    throw new Error(`${path} is not a report of ${commandLine('doctor --json')}.`);
  return { deployment, own, ...(secrets ? { secrets } : {}) };
}

async function reportUpgrade({ json, from }: Options): Promise<number> {
  const result = await examineUpgrade(surveyConfig().config, from);
  const code = UPGRADE_CODES[result.verdict];
  if (json) print(JSON.stringify({ code, ...result }, undefined, 2));
  else for (const line of [`${result.verdict}:`, ...result.reasons, result.next]) print(line);
  return code;
}
