import { commandLine } from '../../../config/commands.js';
import { verifyEndOfChain, type ChainEnd } from '../../../modules/audit-log/verify-end.js';
import { openSecrets } from '../../../platform/access/secrets.js';
import { orOk, problem, warning, type Finding } from '../../shared-checks/finding.js';
import { forEachTenant } from '../scope/tenants.js';
import type { Connected } from './subject.js';

const LINKS = 200;

/** A worker appends new entries each minute. */
const LATE_SECONDS = 300;

/** Verifies the end of each tenant's audit chain with this deployment's LOOKUP_KEY. */
export async function checkAuditChains(subject: Connected): Promise<Finding[]> {
  const secrets = openSecrets(subject.config.secrets);
  const ends = await forEachTenant(subject, async (ctx) => ({
    tenantId: ctx.tenantId,
    end: await verifyEndOfChain(ctx, secrets, LINKS),
  }));
  const findings = ends.flatMap(({ tenantId, end }) => findingsOf(tenantId, end));
  const closings = ends.flatMap(({ end: { closing } }) => closing?.at.toISOString() ?? []).sort();
  return orOk(findings, `The ends of the audit chains verify.${describeClosings(closings)}`);
}

function describeClosings([first, ...later]: string[]): string {
  if (first === undefined) return '';
  const until = later.at(-1);
  return (
    ` They verify with this LOOKUP_KEY since ${first}${until && until !== first ? ` to ${until}, by tenant` : ''}. ` +
    'Older entries were chained with a key that was replaced.'
  );
}

const findingsOf = (tenantId: string, { head, flaw, oldestUnchainedSeconds: age }: ChainEnd) => [
  flaw &&
    problem(
      `The audit chain of tenant ${tenantId} does not verify at link ${flaw.sequence ?? head} of ${head}: ${flaw.problem}.`,
      'After a restore to a time before LOOKUP_KEY was replaced, follow step 6 of docs/restore.md, and leave the present key in the setting. ' +
        'Otherwise use the LOOKUP_KEY that chained it. If you have just replaced it, close the chain as "Lookup key" in docs/leaked-secrets.md ' +
        `describes; if processes ran meanwhile, stop them and run ${commandLine('rehash --replaced-key FILE --accept-altered')} with the old key. If neither applies, follow "The audit chain" in docs/operations.md.`,
    ),
  age > LATE_SECONDS &&
    warning(
      `An audit entry of tenant ${tenantId} has been waiting for its link for ${Math.round(age)} s.`,
      'Check that a worker runs, and follow "The audit chain" in docs/operations.md.',
    ),
];
