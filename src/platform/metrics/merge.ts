import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client';

/** A metric with its values, as a child process reports it to the primary process. */
export type MetricObject = MetricObjectWithValues<MetricValue<string>>;

type Aggregator = MetricObject['aggregator'];

/** Metrics of which the sum, or what prom-client states, would be misleading for several processes. */
const AGGREGATORS: Record<string, Aggregator> = {
  crossdock_build_info: 'first',
  crossdock_database_up: 'max',
  crossdock_database_read_only: 'max',
  crossdock_database_writable: 'min',
  crossdock_protection_faults: 'max',
  crossdock_protections_compared_timestamp_seconds: 'max',
  crossdock_replica_up: 'min',
  crossdock_replica_delay_seconds: 'max',
  process_start_time_seconds: 'first',
};

/** The slowest event loop delays requests. An average would hide it. */
const LAG = /^nodejs_eventloop_lag_(?!min)/;

/** Returns the metrics of several processes as one server, in the Prometheus text format. The first are those of the primary process. */
export const renderMerged = (processes: MetricObject[][]): Promise<string> => merge(processes).metrics();

/** Merges metrics that are merged again later. */
export const mergeMetrics = (processes: MetricObject[][]): Promise<MetricObject[]> =>
  merge(processes).getMetricsAsJSON();

function merge(processes: MetricObject[][]) {
  const prepared = processes.map((metrics) =>
    metrics.map((metric) => ({ ...metric, aggregator: aggregatorOf(metric) })),
  );
  return AggregatorRegistry.aggregate(prepared);
}

const aggregatorOf = ({ name, aggregator }: MetricObject): Aggregator =>
  AGGREGATORS[name] ?? (LAG.test(name) ? 'max' : aggregator);

/** Returns the metrics that only grow. They must outlive their process, because a sum that falls looks like a restart of the server. */
export const growingOf = (metrics: MetricObject[]): MetricObject[] =>
  // prom-client writes the names of the types. Its declaration says numbers.
  metrics.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));
