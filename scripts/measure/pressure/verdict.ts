import { figure, megabytes, type Phase } from './report.js';
import type { Scale } from './scale.js';

const MAX_GROWTH = 1.05;

/** Returns what missed its target, in sentences. */
export function missedTargets(
  { load, bulk, service }: Phase,
  { p99Ms, maxBlockMs }: Pick<Scale, 'p99Ms' | 'maxBlockMs'>,
): string[] {
  const failed = load.streams.filter((stream) => stream.failed > 0);
  const failedBulk = bulk.filter(({ failures, tookMs }) => failures.length > 0 || tookMs.length === 0);
  const block = service.longestBlockMs ?? 0;
  return [
    ...failed.map((stream) => `${stream.failed} of ${stream.completed} requests failed: ${stream.name}.`),
    ...failedBulk.map(({ name, failures }) => `${failures.length} failed: ${name}.`),
    ...(load.light.p99 > p99Ms
      ? [
          `The 99th percentile of the light requests is ${figure(load.light.p99)} ms. The target is ${p99Ms} ms.`,
        ]
      : []),
    ...(block > maxBlockMs ? [`The service blocked its event loop for ${figure(block)} ms.`] : []),
  ];
}

/** Returns which memory grew by more than a twentieth between two phases, in sentences. */
export function grownMemory(before: Phase, after: Phase): string[] {
  return (['service', 'worker'] as const).flatMap((process) =>
    (['rss', 'heapUsed'] as const).flatMap((kind) => {
      const [first, last] = [before.memory[process][kind], after.memory[process][kind]];
      return last > first * MAX_GROWTH
        ? [`${kind} of the ${process} grew from ${megabytes(first)} MB to ${megabytes(last)} MB.`]
        : [];
    }),
  );
}
