import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { projectRoot } from '../../config/project-root.js';
import type { ReadBacklog } from './backlog.js';
import { makeBacklogGauges } from './backlog-gauges.js';
import { countOutbound, type OutboundMetrics } from './outbound.js';
import { watchPools } from './pools.js';
import { countRequests, type RequestMetrics } from './requests.js';

/**
 * What an operator sees of a process. A label has one of a few fixed values: never a tenant, a courier, an address or
 * a person, which would be too many and are nobody's business.
 */
export type Metrics = RequestMetrics &
  OutboundMetrics & {
    /** Shows a pool's connections from now on. */
    watchPool(name: 'service' | 'worker' | 'queue', pool: pg.Pool): void;
    /** Everything, in the text that Prometheus reads. */
    render(): Promise<string>;
  };

export const METRICS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

export function makeMetrics(readBacklog: ReadBacklog): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  registerBuildInfo(registry);
  const databaseUp = new Gauge({
    name: 'crossdock_database_up',
    help: '1 when the database answered when it was last asked what waits, else 0.',
    registers: [registry],
  });
  const backlogGauges = makeBacklogGauges();
  return {
    ...countRequests(registry),
    ...countOutbound(registry),
    watchPool: watchPools(registry),
    async render() {
      const backlog = await readBacklog();
      databaseUp.set(backlog ? 1 : 0);
      const own = await registry.metrics();
      return backlog ? own + (await backlogGauges.render(backlog)) : own;
    },
  };
}

function registerBuildInfo(registry: Registry): void {
  // as: our own
  const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
    version: string;
  };
  const info = { name: 'crossdock_build_info', help: 'Always 1; its label is the version.' };
  new Gauge({ ...info, labelNames: ['version'], registers: [registry] }).set({ version }, 1);
}
