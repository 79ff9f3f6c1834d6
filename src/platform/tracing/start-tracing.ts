import type { TracingConfig } from '../../config/config.js';
import type { Tracing, TracingLog } from './span.js';

/** Starts tracing if the settings ask for it. Otherwise OpenTelemetry is not even loaded. */
export async function startTracing(
  config: TracingConfig | undefined,
  log: TracingLog,
): Promise<Tracing | undefined> {
  if (!config) return undefined;
  const { openTracing } = await import('./open-tracing.js');
  return openTracing(config, log);
}
