import { SECRET_COLUMNS, selectSecrets, type SecretColumn } from '../../modules/tenants/secret-columns.js';
import { DecryptionError, openSecrets, type Secrets } from '../../platform/access/secrets.js';
import type { SystemContext } from '../../platform/context/request-context.js';
import { orOk, problem, type Finding } from './checks/finding.js';
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
      const failure = failureOf(() =>
        secrets.decrypt(cipher, { tenantId: ctx.tenantId, rowId: id, field: column.field }),
      );
      if (failure === undefined) counts.decrypted += 1;
      else {
        const what = `fields ${column.table}.${column.column} cannot be decrypted: ${failure}`;
        counts.failures.set(what, (counts.failures.get(what) ?? 0) + 1);
      }
    }
    after = batch.at(-1)?.id ?? after;
    isMore = isThorough && batch.length === BATCH_ROWS;
  }
}

/** Returns why a field cannot be decrypted, or undefined if it can. */
function failureOf(decrypt: () => string): string | undefined {
  try {
    decrypt();
    return undefined;
  } catch (error) {
    if (error instanceof DecryptionError) return 'the key of its version is another one, or it was altered.';
    return error instanceof Error ? error.message : String(error);
  }
}
