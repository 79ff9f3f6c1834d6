import type { Config } from '../config/config.js';
import { PUBLISHED } from '../config/published.js';
import {
  sampleSecrets,
  SECRET_COLUMNS,
  type SecretColumn,
  type StoredSecret,
  LOOKUP_COLUMNS,
  selectLookups,
  type LookupColumn,
  type StoredLookup,
} from '../modules/tenants/secret-columns.js';
import { decryptIfPossible, openSecrets, type Secrets } from '../platform/access/secrets.js';
import { commandLine } from '../config/commands.js';
import { verifyEndOfChain } from '../modules/audit-log/verify-end.js';
import { withClient } from '../platform/db/connections/roles.js';
import { readDeployments } from './deployment.js';
import { forEachTenant } from './doctor/scope/tenants.js';

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** API keys, and service tokens, per tenant whose hash is compared. */
const SAMPLED_KEYS = 5;

type Sample = { tenantId: string; column: SecretColumn; stored: StoredSecret };

/** By version of the key: how many samples can be decrypted, and how many cannot. */
type Counts = Map<string, { opened: number; failed: number }>;

const DEMO_TENANTS: string[] = Object.values(PUBLISHED.tenantIds);

/** One row may be altered. Two rows of a version and none that can be decrypted show that the key is another one. */
const LEAST_FAILURES = 2;

/**
 * Returns one line per version of ENCRYPTION_KEYS that stored secrets need and that is missing or has another key. Reads a sample
 * of each version in each column of every tenant, except the demo tenants: nobody uses them here, and they have the keys of development.
 */
export async function findUnreadable(config: Config, url: string): Promise<string[]> {
  const secrets = openSecrets(config.secrets);
  const isMatching: boolean[] = [];
  const samples = await forEachTenant({ config, url }, async (ctx): Promise<Sample[]> => {
    if (DEMO_TENANTS.includes(ctx.tenantId)) return [];
    const rows = await ctx.read(SECRET_COLUMNS.map((column) => sampleSecrets(ctx, column)));
    const range = { after: FIRST_ID, limit: SAMPLED_KEYS };
    const lookups = await ctx.read(LOOKUP_COLUMNS.map((column) => selectLookups(ctx, column, range)));
    for (const [index, column] of LOOKUP_COLUMNS.entries())
      isMatching.push(
        ...(lookups[index] ?? []).flatMap((stored) => hasLookupHash(secrets, ctx.tenantId, column, stored)),
      );
    return SECRET_COLUMNS.flatMap((column, index) =>
      (rows[index] ?? []).map((stored) => ({ tenantId: ctx.tenantId, column, stored })),
    );
  });
  const isOtherLookupKey =
    isMatching.length > 0 ? !isMatching.includes(true) : await isChainOfOtherKey(config, url, secrets);
  const known = config.secrets.encryptionKeys.map(({ version }) => version);
  const counts = countByVersion(secrets, samples.flat());
  const unreadable = [...counts].flatMap(([version, { opened, failed }]) => {
    if (!known.includes(version)) return [describe(version, 'has no key of this version')];
    if (opened === 0 && failed >= LEAST_FAILURES)
      return [describe(version, 'has another key of this version')];
    return [];
  });
  return isOtherLookupKey ? [...unreadable, OTHER_LOOKUP_KEY] : unreadable;
}

/** Returns whether the stored hash is that of the credential under this LOOKUP_KEY; nothing if that cannot be decrypted. */
function hasLookupHash(
  secrets: Secrets,
  tenantId: string,
  { field, purpose }: LookupColumn,
  { id, cipher, hash }: StoredLookup,
): boolean[] {
  if (cipher === null) return [];
  const key = decryptIfPossible(secrets, cipher, { tenantId, rowId: id, field });
  return key === undefined ? [] : [secrets.lookupHash(key, purpose) === hash];
}

/**
 * Without an API key the audit chains show the LOOKUP_KEY. The recorded fingerprint decides if there is one, because a chain that somebody
 * has altered does not verify either.
 */
async function isChainOfOtherKey(config: Config, url: string, secrets: Secrets): Promise<boolean> {
  const recorded = await withClient(url, readDeployments);
  if (recorded.some(({ fingerprints }) => fingerprints['LOOKUP_KEY'])) return false;
  const ends = await forEachTenant({ config, url }, (ctx) => verifyEndOfChain(ctx, secrets, 1));
  const chained = ends.filter(({ head }) => head > 0);
  return chained.length > 0 && chained.every(({ flaw }) => flaw !== undefined);
}

const OTHER_LOOKUP_KEY =
  'The API keys of couriers or the audit chains were stored with another LOOKUP_KEY, so none of them would be found or verify. Correct LOOKUP_KEY. ' +
  `If it was replaced, run ${commandLine('rehash --replaced-key FILE')} with the old key, as docs/leaked-secrets.md describes. ` +
  'After a restore to a time before that, follow step 6 of docs/restore.md, and leave the present key in the setting.';

const describe = (version: string, fault: string): string =>
  `Stored secrets are encrypted with version ${version} of ENCRYPTION_KEYS, and the setting ${fault}. ` +
  `Add the key of version ${version} after the newest: the file replaced-encryption-keys of SECRETS_DIR, or the copy that you stored apart from the backups, has it. ` +
  `Then ${commandLine('rewrap')} makes it unnecessary, and ${commandLine('doctor --thorough')} shows which fields need it.`;

function countByVersion(secrets: Secrets, samples: Sample[]): Counts {
  const counts: Counts = new Map();
  for (const { tenantId, column, stored } of samples) {
    const version = /^v(\d+)\./.exec(stored.cipher)?.[1];
    // Not a cipher text. The doctor reports it.
    if (version === undefined) continue;
    const count = counts.get(version) ?? { opened: 0, failed: 0 };
    const context = { tenantId, rowId: stored.id, field: column.field };
    const isOpened = decryptIfPossible(secrets, stored.cipher, context) !== undefined;
    count[isOpened ? 'opened' : 'failed'] += 1;
    counts.set(version, count);
  }
  return counts;
}
