import { verifyEndOfChain, type ChainEnd } from '../../../modules/audit-log/verify-end.js';
import { openSecrets } from '../../../platform/access/secrets.js';
import { BACKGROUND } from '../../../platform/audit/audit.js';
import { makeContext } from '../../../platform/context/request-context.js';
import { APP_ROLE, describeExcessPrivileges } from '../../../platform/db/connections/roles.js';
import { openDb } from '../../../platform/db/open-database.js';
import { systemCallers } from '../../../platform/db/tenants.js';
import { orOk, problem, warning, type Finding } from './finding.js';
import type { Connected } from './subject.js';

const LINKS = 200;

/** A worker appends new entries each minute. */
const LATE_SECONDS = 300;

/** Verifies the end of each tenant's audit chain with this deployment's LOOKUP_KEY. */
export async function checkAuditChains({ config, url }: Connected): Promise<Finding[]> {
  const secrets = openSecrets(config.secrets);
  const isPrivileged = (await describeExcessPrivileges(url)) !== undefined;
  const db = openDb({
    url,
    size: 1,
    onError: () => undefined,
    isBehindPooler: config.databasePooler !== undefined,
    ...(isPrivileged && !config.databasePooler ? { assumeRole: APP_ROLE } : {}),
  });
  try {
    const findings: Finding[] = [];
    for (const caller of await systemCallers(db)) {
      const end = await verifyEndOfChain(makeContext(db, caller, BACKGROUND), secrets, LINKS);
      findings.push(...findingsOf(caller.tenantId, end));
    }
    return orOk(findings, `The ends of the audit chains verify.`);
  } finally {
    await db.close();
  }
}

function findingsOf(tenantId: string, { head, flaw, oldestUnchainedSeconds: age }: ChainEnd): Finding[] {
  const findings: Finding[] = [];
  if (flaw)
    findings.push(
      problem(
        `The audit chain of tenant ${tenantId} does not verify at link ${flaw.sequence ?? head} of ${head}: ${flaw.problem}.`,
        'Use the LOOKUP_KEY that chained it. If it is the same, follow "The audit chain" in docs/operations.md.',
      ),
    );
  if (age > LATE_SECONDS)
    findings.push(
      warning(
        `An audit entry of tenant ${tenantId} has been waiting for its link for ${Math.round(age)} s.`,
        'Check that a worker runs, and follow "The audit chain" in docs/operations.md.',
      ),
    );
  return findings;
}
