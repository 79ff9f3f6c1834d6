import type { Secrets } from '../../platform/access/secrets.js';
import { makeContext } from '../../platform/context/request-context.js';
import type { Jobs } from '../../platform/queue/jobs.js';
import type { TaskDeps } from '../../platform/queue/task-context.js';
import { encryptionContext } from '../couriers/public.js';
import { makeResponseReader } from '../customers/public.js';
import { openWebhookProbe, withoutQuery } from '../webhooks/public.js';
import { CheckStopped, startCourse } from './course.js';
import { checkCustomers } from './customers-check.js';
import { endCheck, startCheck, type CheckEnd, type StartedCheck } from './queries.js';
import { checkWebhook } from './webhook-check.js';
import { verdictOf } from './finding.js';

type CheckDeps = Pick<TaskDeps, 'db' | 'secrets' | 'outbound' | 'stopping' | 'log' | 'span'>;
type CheckJob = Jobs['checkIntegration'];

/** Reading a list takes CPU time and 100 MB, so one list is read at a time. Shorter lists of tests keep their thread. */
const READERS = 1;

/**
 * Returns the job that checks a URL of a courier. No transaction is open while it waits for responses, and it writes nothing of the health
 * of the URL. A check that was started before, by a worker that stopped, is not repeated.
 */
export function makeIntegrationCheck(
  threadIdleMs?: number,
): (deps: CheckDeps, job: CheckJob) => Promise<void> {
  const readResponse = makeResponseReader(READERS, threadIdleMs);

  return async (deps, { tenantId, checkId }) => {
    const newContext = () => makeContext(deps.db, { kind: 'system', tenantId }, checkId);
    const starting = newContext();
    const [[check]] = await starting.write([startCheck(starting, checkId)]);
    if (!check) return;
    const course = startCourse(deps);
    const ended = await execute();
    const ending = newContext();
    await ending.write([endCheck(ending, checkId, ended)]);
    const verdict = ended.error === null ? verdictOf(ended.findings) : 'none';
    const { courierId, endpoint } = check;
    const codes = ended.findings.map(({ code }) => code);
    deps.log.info({ tenantId, courierId, endpoint, checkId, verdict, codes }, 'integration checked');

    async function execute(): Promise<CheckEnd> {
      try {
        const { url, format } = await examine();
        return { url, format, error: null, ...course.result() };
      } catch (error) {
        if (!(error instanceof CheckStopped)) throw error;
        return { url: null, format: null, error: error.message, ...course.result(), findings: [] };
      }
    }

    async function examine(): Promise<Pick<CheckEnd, 'url' | 'format'>> {
      if (!check) throw new Error('The check has not started.');
      const { courierId, endpoint } = check;
      if (endpoint === 'get_customers') {
        const target = customersOf(check, { tenantId, secrets: deps.secrets });
        await checkCustomers(course, target, readResponse);
        return { url: withoutQuery(target.url), format: null };
      }
      const probe = await openWebhookProbe(newContext, deps.secrets, { tenantId, courierId, endpoint });
      if (!probe) throw new CheckStopped('The URL is no longer set, or the courier is disabled.');
      await checkWebhook(course, probe);
      return { url: withoutQuery(probe.url), format: probe.format };
    }
  };
}

function customersOf(
  { courierId, apiUrlGetCustomers: url, apiTokenCipher: cipher, lastReceived }: StartedCheck,
  { tenantId, secrets }: { tenantId: string; secrets: Secrets },
) {
  if (url === null) throw new CheckStopped('api_url_get_customers is no longer set.');
  const token = cipher && secrets.decrypt(cipher, encryptionContext(tenantId, courierId, 'api_token'));
  return { url, token, lastReceived };
}
