import { setTimeout as sleep } from 'node:timers/promises';
import type { Print } from '../../rig/database.js';
import type { Processes, Stall } from '../processes.js';
import type { MixedLoadResult, Stream, StreamResult } from '../programs/mixed-load.js';
import { figure } from '../report.js';
import { runLoad } from '../run-phase.js';
import type { MixScale } from '../scale.js';
import type { StreamsInput } from '../streams.js';
import { lightCallers, mixStreams } from './streams.js';

/** Refused requests are no load for the next step after it. */
const CALM_MS = 2_000;
/** From here on, more requests are not answered. */
const SERVED_SHARE = 0.97;

/** Node accepts one new connection in each turn of its event loop, so that many at once would wait long. */
const CONNECTIONS = 1_000;

type Input = { processes: Processes; requests: StreamsInput; scale: MixScale; print: Print };

/** The mix at fixed rates, and then three times of what the service can do. Returns the missed targets. */
export async function runMix({ processes, requests, scale, print }: Input): Promise<string[]> {
  const { takeStall, port } = processes;
  const run = async (streams: Stream[], seconds: number, settleSeconds = 0) => {
    const running = runLoad({ port, seconds, settleSeconds, connections: CONNECTIONS, streams });
    // Without the connections, which are opened first.
    await sleep(CALM_MS);
    await takeStall();
    const load = await running;
    const stall = await takeStall();
    await sleep(CALM_MS);
    return { load, stall, perSecond: servedOf(load.streams) / seconds };
  };
  print(`\nThe mix at fixed rates, ${scale.seconds} seconds each`);
  for (const rate of scale.rates) {
    const { load, stall } = await run(mixStreams(requests, rate), scale.seconds);
    const { light, streams } = load;
    print(
      `${`mix, ${rate}/s`.padEnd(20)} p50 ${figure(light.p50)} ms, p99 ${figure(light.p99)}, max ${figure(light.max)}, refused ${refusedOf(streams)} of ${sum(streams, 'completed')}; ` +
        `${describeStall(stall)}; generator ${describeGenerator(load, scale.seconds)}`,
    );
  }
  let best = 0;
  // A single step that is slow may be noise.
  for (let rate = scale.firstRate, misses = 0; misses < 2 && rate <= scale.maxRate; rate *= 1.25) {
    const { perSecond } = await run(mixStreams(requests, rate), scale.stepSeconds);
    best = Math.max(best, perSecond);
    if (perSecond < rate * SERVED_SHARE) misses += 1;
  }
  print(
    `\nCapacity: ${figure(best)} requests of the mix per second. Three times of it for ${scale.overloadSeconds} seconds, without the first ${scale.settleSeconds}:`,
  );
  const flood = mixStreams(requests, best * 3);
  const light = await lightCallers(port, requests);
  const { overloadSeconds, settleSeconds } = scale;
  const { load, stall } = await run([...flood, ...light], overloadSeconds, settleSeconds);
  const floods = load.streams.slice(0, flood.length);
  const callers = load.streams.slice(flood.length);
  const served = servedOf(floods) / (overloadSeconds - settleSeconds);
  print(
    `served ${figure(served)}/s, ${percent(served / best)} of the best; refused ${refusedOf(floods)} of ${sum(floods, 'completed')}`,
  );
  print(`admitted: ${describe(load.admitted)}`);
  print(`refused:  ${describe(load.refused)}`);
  print(`${describeStall(stall)}; generator ${describeGenerator(load, overloadSeconds)}`);
  for (const { name, admitted, completed, latency } of load.streams)
    print(`${name.padEnd(32)} ${admitted} of ${completed} served, ${describe(latency)}`);
  return [
    ...load.streams
      .filter(({ failed }) => failed > 0)
      .map(({ name, answers }) => `${name}: ${JSON.stringify(answers)}`),
    ...callers
      .filter(({ admitted, completed }) => admitted < completed * scale.lightShare)
      .map(({ name, admitted, completed }) => `${name}: ${admitted} of ${completed} were served.`),
    ...above('admitted', load.admitted.p99, scale.admittedP99Ms),
    ...above('refused', load.refused.p99, scale.refusedP99Ms),
    ...(served < best * scale.servedShare
      ? [`Three times the capacity serves ${percent(served / best)} of the best.`]
      : []),
  ];
}

const sum = (streams: StreamResult[], field: 'completed' | 'admitted' | 'inTime') =>
  streams.reduce((total, stream) => total + stream[field], 0);
const servedOf = (streams: StreamResult[]) => sum(streams, 'inTime');
const refusedOf = (streams: StreamResult[]) => sum(streams, 'completed') - sum(streams, 'admitted');

const describe = ({ p50, p99, max }: MixedLoadResult['light']) =>
  `p50 ${figure(p50)} ms, p99 ${figure(p99)}, max ${figure(max)}`;

const describeGenerator = ({ cpuMs, ownDelayMs, ownDelayP99Ms }: MixedLoadResult, seconds: number) =>
  `${figure(cpuMs / seconds / 1_000)} cores, p99 ${figure(ownDelayP99Ms)} ms late, at most ${figure(ownDelayMs)}`;

const describeStall = ({ longestMs, ownMs }: Stall) =>
  `longest stall ${figure(longestMs)} ms, by its own work ${figure(ownMs)}`;

const percent = (share: number) => `${(share * 100).toFixed(0)} %`;

const above = (name: string, p99: number, target: number): string[] =>
  p99 > target
    ? [`The 99th percentile of ${name} requests is ${figure(p99)} ms. The target is ${target} ms.`]
    : [];
