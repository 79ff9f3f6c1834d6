import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export type RequestMetrics = {
  /** Counts a request; what it answers is told the end: the status, or that the client left before it. */
  requestStarted(): (operation: string, status: number | 'aborted') => void;
  /** Counts an answer to what was no request yet: Node's parser or the router could not read it. */
  requestRefused(status: number): void;
};

/** In place of an operationId: an unknown path, a page of the reference. */
export const NO_OPERATION = 'none';

export function countRequests(registry: Registry): RequestMetrics {
  const registers = [registry];
  const total = new Counter({
    name: 'crossdock_http_requests_total',
    help: 'Requests that have been answered.',
    labelNames: ['operation', 'status'],
    registers,
  });
  const seconds = new Histogram({
    name: 'crossdock_http_request_duration_seconds',
    help: 'From the end of the headers to the last byte of the answer.',
    labelNames: ['operation'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const inFlight = new Gauge({
    name: 'crossdock_http_requests_in_flight',
    help: 'Requests that are being answered.',
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
