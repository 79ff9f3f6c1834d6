import { describeMisspelt } from '../../shared-checks/misspelt-settings.js';
import { checkPool } from '../../shared-checks/pool.js';
import { checkProxies } from '../../shared-checks/proxies.js';
import { orOk, problem, warning, type Finding } from '../../shared-checks/finding.js';
import { checkReadableSecrets, checkWritableSecrets } from '../../shared-checks/secret-files.js';
import { findPlaceholders } from './placeholders.js';
import type { Subject } from './subject.js';

export const checkSettings = ({ config, faults, misspelt }: Subject): Finding[] =>
  orOk(
    [
      ...faults.map((fault) =>
        problem(fault, 'Correct the setting. docs/settings.md lists the settings with their formats.'),
      ),
      ...misspelt.map(describeMisspelt).map(({ message, remedy }) => warning(message, remedy)),
      ...checkProxies(config),
      ...findOpenMetrics(config),
      ...checkPool(config),
      ...findPlaceholders(config),
    ],
    `The settings for ${config.appEnv} are valid.`,
  );

/** The metrics have no credential. */
const findOpenMetrics = ({ metrics }: Subject['config']): Finding[] =>
  metrics && /^(0\.0\.0\.0|::|\[::\])$/.test(metrics.host)
    ? [
        warning(
          `METRICS_HOST is ${metrics.host}, so METRICS_PORT listens on all addresses of this machine, without a credential.`,
          'Set METRICS_HOST to 127.0.0.1 or to the address that Prometheus uses. In a container, publish the port to no other network.',
        ),
      ]
    : [];

/** Examines who may write and read the files of secrets. Returns nothing if there are none. */
export async function checkSecretFiles({ config }: Subject): Promise<Finding[]> {
  if (config.appEnv === 'development' || (config.secretsDir ?? config.tls) === undefined) return [];
  return orOk(
    [await checkWritableSecrets(config), await checkReadableSecrets(config)],
    'Only the service and administrators may write and read the files of secrets.',
  );
}
