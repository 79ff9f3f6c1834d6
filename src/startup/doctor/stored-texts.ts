import { countUncleanTexts, type UncleanTexts } from '../../modules/tenants/unclean-text-queries.js';
import { orOk, warning, type Finding } from './checks/finding.js';
import type { Connected } from './checks/subject.js';
import { forEachTenant } from './scope/tenants.js';

/** Reports user codes and tracking numbers from before the rules of texts (decision 0074). They are not changed: only people know the right ones. */
export async function checkStoredTexts(subject: Connected): Promise<Finding[]> {
  const findings = await forEachTenant(subject, async (ctx) => {
    const [[counts]] = await ctx.read([countUncleanTexts(ctx)]);
    return counts ? findingsOf(ctx.tenantId, counts) : [];
  });
  return orOk(findings.flat(), 'No stored user code or tracking number breaks the rules of texts.');
}

function findingsOf(tenantId: string, { codes, shortenedCodes, shortenedNumbers }: UncleanTexts): Finding[] {
  const found: [count: number, what: string, remedy: string][] = [
    [
      codes,
      'user codes have white space around them, or invisible characters',
      'Rename these customers with ManageCustomers.php: send the same user_code, which is stored without them.',
    ],
    [
      shortenedCodes,
      'user codes are what a spreadsheet left of a long number',
      'Ask the couriers for the codes and rename these customers with ManageCustomers.php.',
    ],
    [
      shortenedNumbers,
      'pending pre-alerts have what a spreadsheet left of a tracking number',
      'Ask the couriers to announce these parcels again, and delete these pre-alerts.',
    ],
  ];
  return found.flatMap(([count, what, remedy]) =>
    count > 0 ? [warning(`${count} ${what}, in tenant ${tenantId}.`, remedy)] : [],
  );
}
