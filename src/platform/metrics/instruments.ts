import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

type Options<Metric> = { labelNames?: string[]; collect?: (this: Metric) => void | Promise<void> };

/** Returns the functions that add metrics to a registry. All names begin with `crossdock_`. */
export function instrumentsOf(registry: Registry) {
  const common = (name: string, help: string) => ({ name: `crossdock_${name}`, help, registers: [registry] });
  return {
    counter: (name: string, help: string, options: Options<Counter> = {}) =>
      new Counter({ ...common(name, help), ...options }),
    gauge: (name: string, help: string, options: Options<Gauge> = {}) =>
      new Gauge({ ...common(name, help), ...options }),
    histogram: (name: string, help: string, options: { buckets: number[]; labelNames?: string[] }) =>
      new Histogram({ ...common(name, help), ...options }),
  };
}
