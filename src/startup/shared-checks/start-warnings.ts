import type { Config } from '../../config/config.js';
import { checkFolders } from './folders.js';
import { checkPool } from './pool.js';
import { checkProxies } from './proxies.js';
import { checkWritableSecrets } from './secret-files.js';
import { checkSecrets } from './secrets.js';
import { checkTls } from './tls.js';
import type { Finding } from './finding.js';

/** What a start knows about the process. */
type Start = {
  config: Config;
  /** An empty setting that is present is a decision, as SES_REGION in the env file of staging. */
  env: NodeJS.ProcessEnv;
  now: () => Date;
  runsJobs: boolean;
};

/** Returns a line for each setting with which a process starts, but does less than a deployment needs, or is unsafe. The doctor has the same rules. */
export async function startWarnings({ config, env, now, runsJobs }: Start): Promise<string[]> {
  const findings = [
    ...(config.tls ? await checkTls({ config, now }) : []),
    // Monitoring says whether there is enough space.
    ...(await checkFolders({ config, lowDiskBytes: 0, runsJobs })),
    ...checkPool(config),
    ...(config.appEnv === 'development' ? [] : checkProxies(config)),
    ...checkSecrets(config),
    ...(await checkWritableSecrets(config)),
  ];
  return [
    ...findings.flatMap((finding) => lineOf(finding)),
    ...(config.appEnv === 'development' ? [] : describeMissing(config, env)),
  ];
}

const lineOf = (finding: Finding): string[] =>
  finding.level === 'ok' ? [] : [`${finding.message.replace(/([^.!?])$/, '$1.')} ${finding.remedy}`];

const ENV_FILE = 'If the env file had it, compare the file with that of deploy/settings.';

function describeMissing({ mail, rateLimitPerMinute }: Config, env: NodeJS.ProcessEnv): string[] {
  const lines: string[] = [];
  if (!mail.ses && env['SES_REGION'] === undefined)
    lines.push(
      `SES_REGION is not set, so mails are only written to files in ${mail.outbox}, and nobody gets them. Set SES_REGION and MAIL_FROM. ${ENV_FILE}`,
    );
  if (rateLimitPerMinute === undefined && env['RATE_LIMIT_PER_MINUTE'] === undefined)
    lines.push(
      `RATE_LIMIT_PER_MINUTE is not set, so the requests of a key or token are not limited. Set it. ${ENV_FILE}`,
    );
  return lines;
}
