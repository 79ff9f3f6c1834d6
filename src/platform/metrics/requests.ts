import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export type RequestMetrics = {
  /** Counts a request. Call the returned function at its end, with the status or `aborted` if the client disconnected. */
  requestStarted(): (operation: string, status: number | 'aborted') => void;
  /** Counts the response to a request that Node's parser or the router rejected. */
  requestRefused(status: number): void;
};

/** Follows the operation in the label of a request with many lines. */
export const LINES = ':lines';

/** Label for requests without an operation: unknown paths and the API reference. */
export const NO_OPERATION = 'none';

export function countRequests(registry: Registry): RequestMetrics {
  const registers = [registry];
  const total = new Counter({
    name: 'crossdock_http_requests_total',
    help: 'Completed requests.',
    labelNames: ['operation', 'status'],
    registers,
  });
  const seconds = new Histogram({
    name: 'crossdock_http_request_duration_seconds',
    help: 'Time from the end of the request headers to the last byte of the response.',
    labelNames: ['operation'],
    // 0.3 is the limit of the service level objective in deploy/prometheus/alerts.yaml.
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.3, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const inFlight = new Gauge({
    name: 'crossdock_http_requests_in_flight',
    help: 'Requests in progress.',
    registers,
  });
  return {
    requestStarted() {
      const startMs = performance.now();
      inFlight.inc();
      return (operation, status) => {
        inFlight.dec();
        total.inc({ operation, status });
        seconds.observe({ operation }, (performance.now() - startMs) / 1000);
      };
    },
    requestRefused: (status) => total.inc({ operation: NO_OPERATION, status }),
  };
}
