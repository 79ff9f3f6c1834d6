import { verifyEndOfChain, type ChainEnd } from '../../../modules/audit-log/verify-end.js';
import { openSecrets } from '../../../platform/access/secrets.js';
import { orOk, problem, warning, type Finding } from './finding.js';
import { forEachTenant } from '../scope/tenants.js';
import type { Connected } from './subject.js';

const LINKS = 200;

/** A worker appends new entries each minute. */
const LATE_SECONDS = 300;

/** Verifies the end of each tenant's audit chain with this deployment's LOOKUP_KEY. */
export async function checkAuditChains(subject: Connected): Promise<Finding[]> {
  const secrets = openSecrets(subject.config.secrets);
  const findings = await forEachTenant(subject, async (ctx) =>
    findingsOf(ctx.tenantId, await verifyEndOfChain(ctx, secrets, LINKS)),
  );
  return orOk(findings.flat(), `The ends of the audit chains verify.`);
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
