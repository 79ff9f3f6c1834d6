import type { Config } from '../../config/config.js';
import { CONNECTIONS_OF_PROCESS } from '../../config/processes.js';
import { warning, type Finding } from './finding.js';

/** Warns if the API processes of a server share so few connections that light requests wait for reports. Development serves one person. */
export function checkPool({ appEnv, apiProcesses, poolSize }: Config): Finding[] {
  const least = apiProcesses * CONNECTIONS_OF_PROCESS;
  if (appEnv === 'development' || apiProcesses === 1 || poolSize >= least) return [];
  return [
    warning(
      `POOL_SIZE=${poolSize} gives each of the ${apiProcesses} API processes ${(poolSize / apiProcesses).toFixed(1)} connections, so requests wait while reports and uploads have them.`,
      `Set POOL_SIZE to ${least} or more, or API_PROCESSES to ${Math.max(1, Math.floor(poolSize / CONNECTIONS_OF_PROCESS))}.`,
    ),
  ];
}
