import { SECRET_COLUMNS, selectSecrets, type SecretColumn } from '../../modules/tenants/secret-columns.js';
import { countUncleanTexts, type UncleanTexts } from '../../modules/tenants/unclean-text-queries.js';
import { DecryptionError, openSecrets, type Secrets } from '../../platform/access/secrets.js';
import type { SystemContext } from '../../platform/context/request-context.js';
import { messageOf, orOk, problem, warning, type Finding } from '../shared-checks/finding.js';
import type { Connected } from './checks/subject.js';
import { findUnreadable } from '../stored-ciphers.js';
import { forEachTenant } from './scope/tenants.js';

const BATCH_ROWS = 500;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

type Counts = { decrypted: number; failures: Map<string, number> };

/**
 * Decrypts encrypted fields with this deployment's ENCRYPTION_KEYS: of each column and tenant the first rows, or all if the
 * examination is thorough.
 */
export async function checkEncryption(subject: Connected): Promise<Finding[]> {
  const secrets = openSecrets(subject.config.secrets);
  const counts: Counts = { decrypted: 0, failures: new Map() };
  await forEachTenant(subject, async (ctx) => {
    for (const column of SECRET_COLUMNS)
      await decryptColumn(ctx, secrets, column, counts, subject.isThorough ?? false);
  });
  // The first rows may lack a version that later rows need.
  const unreadable = await findUnreadable(subject.config, subject.url);
  return orOk(
    [
      ...[...counts.failures].map(([what, count]) => problem(`${count} ${what}`, REMEDY)),
      ...(counts.failures.size === 0 ? unreadable.map((line) => problem(line, REMEDY)) : []),
    ],
    `${counts.decrypted} encrypted fields were read, and all can be decrypted.`,
  );
}

const REMEDY =
  'Add the key that encrypted them to ENCRYPTION_KEYS, after the newest. The copy that belongs to the backup has it.';

async function decryptColumn(
  ctx: SystemContext,
  secrets: Secrets,
  column: SecretColumn,
  counts: Counts,
  isThorough: boolean,
): Promise<void> {
  for (let after = FIRST_ID, isMore = true; isMore;) {
    const [batch] = await ctx.read([selectSecrets(ctx, column, { after, limit: BATCH_ROWS })]);
    for (const { id, cipher } of batch) {
      try {
        secrets.decrypt(cipher, { tenantId: ctx.tenantId, rowId: id, field: column.field });
        counts.decrypted += 1;
      } catch (error) {
        const what = `fields ${column.table}.${column.column} cannot be decrypted: ${reasonOf(error)}`;
        counts.failures.set(what, (counts.failures.get(what) ?? 0) + 1);
      }
    }
    after = batch.at(-1)?.id ?? after;
    isMore = isThorough && batch.length === BATCH_ROWS;
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof DecryptionError
    ? 'the key of its version is another one, or it was altered.'
    : messageOf(error);

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
