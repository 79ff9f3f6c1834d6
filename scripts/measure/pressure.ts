import { parseArgs } from 'node:util';
import { readConfig } from '../../src/config/config.js';
import { makeCpuMeter } from './rig/cpu.js';
import type { Print } from './rig/database.js';
import { createLogin } from './rig/service.js';
import { fill, send } from './pressure/client.js';
import { withPressureDatabase, type PressureDatabase } from './pressure/database.js';
import { prepareRequests } from './pressure/prepare-requests.js';
import { startProcesses, type Processes, type ServiceSize } from './pressure/processes.js';
import type { Stream } from './pressure/programs/mixed-load.js';
import { describePhase, type Phase } from './pressure/report.js';
import { runPhase } from './pressure/run-phase.js';
import { runMix } from './pressure/mix/overload.js';
import { BULK_KINDS, FULL, SMOKE, type BulkKind, type Scale } from './pressure/scale.js';
import { loginStreams, lightStreams, type StreamsInput } from './pressure/streams.js';
import { grownMemory, missedTargets } from './pressure/verdict.js';
import { runScript } from '../../src/commands/run/script.js';

/** A long run compares the memory at its end with the memory after these minutes. */
const WARM_UP_SECONDS = 300;

// npm run pressure: 150 light requests per second, and at the same time a flood of logins, exports, uploads and reconciliations.
// Reports latencies, failures, event loop, waits for connections, memory and CPU. Fails if a target is missed. `--minutes 30` runs
// longer and also fails if the memory grows. `--rate`, `--logins`, `--pause` and `--p99` set the light requests and the logins per
// second, the seconds between two rounds of the bulk work, and the target in milliseconds. `--bulk csv,xlsx,upload,reconciliation` names the
// kinds of bulk work that run. Then the mix of a busy day at fixed rates, and three times of what the service can do; `--rows mix` runs
// only these, and `--rows bulk` only the first part. `--processes` and `--pool` set the size of the service for `--rows mix`. `--proxied` lets the logins share connections, as behind a proxy. `--smoke` runs twelve seconds on little data with generous bounds.
await runScript(async (print) => {
  const { values } = parseArgs({
    options: {
      smoke: { type: 'boolean', default: false },
      minutes: { type: 'string' },
      rate: { type: 'string' },
      logins: { type: 'string' },
      pause: { type: 'string' },
      bulk: { type: 'string' },
      rows: { type: 'string' },
      proxied: { type: 'boolean', default: false },
      p99: { type: 'string' },
      processes: { type: 'string' },
      pool: { type: 'string' },
    },
  });
  const scale = values.smoke ? SMOKE : FULL;
  await run(
    {
      ...scale,
      seconds: numberOf(values.minutes, scale.seconds / 60) * 60,
      perSecond: numberOf(values.rate, scale.perSecond),
      loginsPerSecond: numberOf(values.logins, scale.loginsPerSecond),
      pauseSeconds: numberOf(values.pause, scale.pauseSeconds),
      bulk: kindsOf(values.bulk, scale.bulk),
      isProxied: values.proxied,
      p99Ms: numberOf(values.p99, scale.p99Ms),
    },
    rowsOf(values.rows),
    sizeOf(values),
    print,
  );
});

type Rows = 'bulk' | 'mix' | undefined;

function rowsOf(text: string | undefined): Rows {
  if (text === undefined || text === 'bulk' || text === 'mix') return text;
  throw new Error('--rows is bulk or mix.');
}

/** @throws Error for several processes and bulk work, which is measured in one */
function sizeOf({
  processes,
  pool,
  rows,
}: {
  processes?: string;
  pool?: string;
  rows?: string;
}): ServiceSize {
  const size = { processes: numberOf(processes, 1), connections: numberOf(pool, 10) };
  if (size.processes > 1 && rows !== 'mix') throw new Error('--processes needs --rows mix.');
  return size;
}

function numberOf(text: string | undefined, usual: number): number {
  const value = Number(text ?? usual);
  if (!(value >= 0)) throw new Error(`${text} is not a number.`);
  return value;
}

/** @param text a list with commas; empty for no bulk work */
function kindsOf(text: string | undefined, usual: readonly BulkKind[]): readonly BulkKind[] {
  if (text === undefined) return usual;
  const names = text.split(',').filter(Boolean);
  const unknown = names.filter((name) => !BULK_KINDS.some((kind) => kind === name));
  if (unknown.length > 0) throw new Error(`The kinds of bulk work are ${BULK_KINDS.join(', ')}.`);
  return BULK_KINDS.filter((kind) => names.includes(kind));
}

/** @throws Error that lists the missed targets */
async function run(scale: Scale, rows: Rows, size: ServiceSize, print: Print): Promise<void> {
  const missed = await withPressureDatabase(readConfig(), scale, print, (database) =>
    measure(database, { scale, rows, size }, print),
  );
  if (missed.length > 0) throw new Error(missed.join('\n'));
  print('All targets are met.');
}

/** Returns the missed targets. */
async function measure(
  { ownerUrl, tenant }: PressureDatabase,
  { scale, rows, size }: { scale: Scale; rows: Rows; size: ServiceSize },
  print: Print,
): Promise<string[]> {
  const processes = await startProcesses(await createLogin(ownerUrl), ownerUrl, size);
  try {
    const requests = await prepareRequests(processes.port, tenant);
    const measureBulk = async () => {
      const phases = await runPhases({ processes, requests, ownerUrl, tenant, scale, print });
      const [first, last] = [phases[0], phases.at(-1)];
      const missed = phases.flatMap((phase) => missedTargets(phase, scale));
      return first && last && first !== last ? [...missed, ...grownMemory(first, last)] : missed;
    };
    return [
      ...(rows === 'mix' ? [] : await measureBulk()),
      ...(rows === 'bulk' ? [] : await runMix({ processes, requests, scale: scale.mix, print })),
    ];
  } finally {
    await Promise.all([processes.service.stop(), processes.worker.stop()]);
  }
}

type Measurement = PressureDatabase & {
  processes: Processes;
  requests: StreamsInput;
  scale: Scale;
  print: Print;
};

async function runPhases(measurement: Measurement): Promise<Phase[]> {
  const { processes, requests, ownerUrl, tenant, scale, print } = measurement;
  const streams = [...lightStreams(requests, scale), ...loginStreams(requests, scale)].filter(
    ({ perSecond }) => perSecond > 0,
  );
  await warmUp(processes.port, streams);
  const meter = await makeCpuMeter(processes.service.pid, ownerUrl);
  const phases: Phase[] = [];
  for (const seconds of durations(scale)) {
    const { token } = requests;
    const phase = await runPhase({ processes, meter, tenant, token, streams, scale, seconds });
    print(
      `\n${seconds} seconds, ${scale.perSecond} light requests and ${scale.loginsPerSecond} logins per second`,
    );
    for (const line of describePhase(phase)) print(line);
    phases.push(phase);
  }
  return phases;
}

/** Sends one request of each kind, because the first label loads its fonts and every first request compiles its code. */
async function warmUp(port: number, streams: Stream[]): Promise<void> {
  // The database of an earlier run has its numbers.
  const number = `warm-up-${Date.now()}`;
  for (const { name, calls, expected } of streams) {
    const [call] = calls;
    const { status, code } = call
      ? await send(port, false, fill(call, number))
      : { status: 0, code: 'no call' };
    if (status > 299 && !expected.includes(code)) throw new Error(`${name}: ${status} ${code}`);
  }
}

function durations({ seconds }: Scale): number[] {
  return seconds > WARM_UP_SECONDS ? [WARM_UP_SECONDS, seconds - WARM_UP_SECONDS] : [seconds];
}
