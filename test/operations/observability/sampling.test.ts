import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { SamplingDecision } from '@opentelemetry/sdk-trace';
import { developmentConfig } from '../../support/staging/development.js';
import { projectRoot } from '../../../src/config/project-root.js';
import { makeSampler } from '../../../src/platform/tracing/sampler.js';
import { hang, startReceiver } from '../../support/receivers/receiver.js';
import { demoDatabase } from '../../support/service/database.js';
import {
  endProcesses,
  freePort,
  removeFolders,
  startReplica,
  statusOf,
  until,
} from '../../support/service/processes.js';

const LIMIT_MS = 60_000;

afterEach(endProcesses, LIMIT_MS);
afterAll(removeFolders);

/** Returns how many of 1,000 requests at once are recorded. */
function countSampled(env: Record<string, string>, parent?: { flags: number; traceId?: string }): number {
  const { tracing } = developmentConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', ...env });
  if (!tracing) throw new Error('Tracing is off.');
  const sampler = makeSampler(tracing);
  const decisions = Array.from({ length: 1_000 }, (_, n) => {
    const traceId = parent?.traceId ?? (n * 4_294_967 + 1).toString(16).padStart(32, '9');
    const spanContext = { traceId, spanId: 'b'.repeat(16), traceFlags: parent?.flags ?? 0, isRemote: true };
    const context = parent ? trace.setSpanContext(ROOT_CONTEXT, spanContext) : ROOT_CONTEXT;
    return sampler.shouldSample(context, traceId, 'submitPrealert', SpanKind.SERVER, {}, []).decision;
  });
  return decisions.filter((decision) => decision === SamplingDecision.RECORD_AND_SAMPLED).length;
}

describe('callers', () => {
  test('get at most TRACE_CALLERS_PER_SECOND of their traces recorded', () => {
    const env = { OTEL_TRACES_SAMPLER: 'parentbased_always_off', TRACE_CALLERS_PER_SECOND: '7' };
    expect(countSampled(env, { flags: 1 })).toBe(7);
    expect(countSampled(env, { flags: 0 })).toBe(0);
    expect(countSampled({ ...env, TRACE_CALLERS_PER_SECOND: '0' }, { flags: 1 })).toBe(0);
  });

  test('cannot choose a trace id that a ratio always samples', () => {
    const env = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.1' };
    const chosen = { flags: 1, traceId: `${'0'.repeat(31)}1` };
    const sampled = countSampled({ ...env, TRACE_CALLERS_PER_SECOND: '0' }, chosen);
    expect(sampled).toBeGreaterThan(40);
    expect(sampled).toBeLessThan(200);
    const ignored = countSampled({ ...env, OTEL_TRACES_SAMPLER: 'traceidratio' }, chosen);
    expect(ignored).toBeGreaterThan(40);
    expect(ignored).toBeLessThan(200);
  });

  test('do not limit a sampler that records everything, unless they ask for no trace', () => {
    expect(countSampled({ TRACE_CALLERS_PER_SECOND: '0' }, { flags: 1 })).toBe(1_000);
    expect(countSampled({}, { flags: 0 })).toBe(0);
    expect(countSampled({ OTEL_TRACES_SAMPLER: 'always_on' }, { flags: 0 })).toBe(1_000);
  });
});

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /^OTEL_EXPORTER_OTLP_ENDPOINT must be/],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'no value' }, /^OTEL_EXPORTER_OTLP_HEADERS must be/],
  [{ OTEL_TRACES_SAMPLER: 'jaeger_remote' }, /^OTEL_TRACES_SAMPLER must be/],
  [{ OTEL_TRACES_SAMPLER_ARG: '2' }, /^OTEL_TRACES_SAMPLER_ARG must be/],
])('a faulty setting prevents the start: %j', (env, message) => {
  expect(() => developmentConfig(env)).toThrow(message);
});

test('without an endpoint, no process loads OpenTelemetry', () => {
  const tracing = (path: string) => readFileSync(path, 'utf8').includes('BatchSpanProcessor');
  const main = importsOf(join(projectRoot, 'dist/src/main.js'));
  // The server's entry point always imports this file, and only later, so that it loads while PostgreSQL starts.
  const server = [...main.later].find((path) => basename(path).startsWith('serve-'));
  expect([...main.loaded].filter(tracing)).toEqual([]);
  for (const program of [server ?? '', join(projectRoot, 'dist/src/worker.js')]) {
    const { loaded, later } = importsOf(program);
    expect([...loaded].filter(tracing)).toEqual([]);
    // The test would prove nothing if the bundle did not contain it at all.
    expect([...later].filter((path) => [...importsOf(path).loaded].some(tracing))).not.toEqual([]);
  }
});

/** Returns the files of the bundle that a file loads at once, and those that it imports later. */
function importsOf(entry: string, loaded = new Set<string>(), later = new Set<string>()) {
  if (loaded.has(entry)) return { loaded, later };
  loaded.add(entry);
  const text = readFileSync(entry, 'utf8');
  for (const [, path] of text.matchAll(/\bimport\("(\.[^"]+)"\)/g))
    later.add(join(dirname(entry), path ?? ''));
  for (const [, path] of text.matchAll(/^(?:import|export) ?(?:[^;"]*? from )?"(\.[^"]+)";/gm))
    importsOf(join(dirname(entry), path ?? ''), loaded, later);
  return { loaded, later };
}

test(
  'a collector that never answers delays neither requests nor the end of the process',
  async () => {
    const collector = await startReceiver(hang);
    const database = await demoDatabase();
    try {
      const metricsPort = await freePort();
      const replica = await startReplica({
        DATABASE_URL: database.ownerUrl,
        METRICS_PORT: String(metricsPort),
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_BSP_SCHEDULE_DELAY: '10',
      });
      const ask = () => statusOf(`${replica.url}/api/ManageWarehouses.php`);
      expect(await ask()).toBe(401);
      await until(async () => collector.received.length > 0);
      const began = performance.now();
      for (let n = 0; n < 100; n += 1) expect(await ask()).toBe(401);
      expect(performance.now() - began).toBeLessThan(5_000);
      const stopping = performance.now();
      expect(await replica.stop()).toEqual({ code: 0, signal: null });
      // A replica whose /ready was asked lately fails it for 3 s first.
      expect(performance.now() - stopping).toBeLessThan(6_000);
    } finally {
      await endProcesses();
      await collector.stop();
      await database.drop();
    }
  },
  LIMIT_MS,
);
