/** The operations that load balancers call inside the network, over plain HTTP, without a tenant's host name, and each second. */
export const HEALTH_CHECKS: ReadonlySet<string> = new Set(['getHealth', 'getReadiness']);

type Routed = { routeOptions: { schema?: { operationId?: string } } };

export const isHealthCheck = ({ routeOptions }: Routed): boolean =>
  HEALTH_CHECKS.has(routeOptions.schema?.operationId ?? '');
