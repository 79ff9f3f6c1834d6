import type { Registry } from 'prom-client';
import { instrumentsOf } from './instruments.js';

export type RequestMetrics = ReturnType<typeof countRequests>;

/** Follows the operation in the label of a request with many lines. */
export const LINES = ':lines';

/** Label for requests without an operation: unknown paths and the API reference. */
export const NO_OPERATION = 'none';

export function countRequests(registry: Registry) {
  const { counter, gauge, histogram } = instrumentsOf(registry);
  const total = counter('http_requests_total', 'Completed requests.', {
    labelNames: ['operation', 'status'],
  });
  const seconds = histogram(
    'http_request_duration_seconds',
    'Time from the end of the request headers to the last byte of the response.',
    {
      labelNames: ['operation'],
      // 0.3 is the limit of the service level objective in deploy/prometheus/alerts.yaml.
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.3, 0.5, 1, 2.5, 5, 10],
    },
  );
  const inFlight = gauge('http_requests_in_flight', 'Requests in progress.');
  const ofLoop = counter('loop_refused_total', 'Requests that were refused because the event loop is late.');
  const ofWriters = counter(
    'writes_refused_total',
    'Requests that were refused because their caller has used up what it may write.',
  );
  const ofProxies = counter(
    'untrusted_proxy_refused_total',
    'Requests that were refused because their proxy is not in TRUST_PROXY.',
  );
  const ofCalls = counter(
    'api_calls_lost_total',
    'Calls of couriers that are missing in their log: the memory for them was full, or the database was away.',
  );
  const overloaded = counter(
    'overloaded_total',
    'All requests that were refused because the service has too much to do: also those that waited too long.',
  );
  return {
    /**
     * Counts a request. Call the returned function at its end, with the status, `aborted` if the client disconnected, or `provoked` if it
     * asked for a failure in a sandbox.
     */
    requestStarted(): (operation: string, status: number | 'aborted' | 'provoked') => void {
      const startMs = performance.now();
      inFlight.inc();
      return (operation, status) => {
        inFlight.dec();
        total.inc({ operation, status });
        seconds.observe({ operation }, (performance.now() - startMs) / 1000);
      };
    },
    /** Counts the response to a request that Node's parser or the router rejected. */
    requestRefused: (status: number): void => total.inc({ operation: NO_OPERATION, status }),
    /** Counts a request that got `overloaded`, whatever has refused it. */
    overloaded: (): void => overloaded.inc(),
    /** Counts calls that could not be written to the log of their courier. */
    callsLost: (count: number): void => ofCalls.inc(count),
    /** Counts a request whose caller has used up its write allowance. */
    writesRefused: (): void => ofWriters.inc(),
    /** Counts a request that was refused because its proxy is not in TRUST_PROXY. */
    untrustedProxyRefused: (): void => ofProxies.inc(),
    /** Counts a request that was refused because the event loop is late. */
    loopRefused: (): void => ofLoop.inc(),
  };
}
