import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { commandLine } from '../src/config/commands.js';
import { readConfig, readOwnerUrl } from '../src/config/config.js';
import { closeChain } from '../src/modules/audit-log/close-chain.js';
import { rehashLookups } from '../src/modules/tenants/rehash.js';
import { openChainKeys, type ChainKeys } from '../src/platform/access/chain-keys.js';
import { openSecrets } from '../src/platform/access/secrets.js';
import { assertDirect } from '../src/platform/db/connections/pooler.js';
import { APP_ROLE, withClient } from '../src/platform/db/connections/roles.js';
import { makeContext } from '../src/platform/context/request-context.js';
import type { Db } from '../src/platform/db/database.js';
import { openDb } from '../src/platform/db/open-database.js';
import { newId } from '../src/platform/values/ids.js';
import { runScript } from './script.js';

// npm run rehash: makes the hashes of all API keys again after LOOKUP_KEY was replaced. With --drop-backup-codes it also deletes
// the backup codes of all users, which no longer match. With --replaced-key FILE it closes the audit chains that the old LOOKUP_KEY in that
// file, or of the standard input with -, has chained, unless they were altered; --accept-altered closes those too. docs/leaked-secrets.md has the steps.
const USAGE = commandLine('rehash [--drop-backup-codes] [--replaced-key FILE [--accept-altered]]');

await runScript(async (print) => {
  const { values } = parseArgs({
    options: {
      'drop-backup-codes': { type: 'boolean', default: false },
      'replaced-key': { type: 'string' },
      'accept-altered': { type: 'boolean', default: false },
    },
  });
  const config = readConfig();
  const secrets = openSecrets(config.secrets);
  const path = values['replaced-key'];
  const replaced = path === undefined ? undefined : await readReplaced(path, secrets.auditChain);
  const url = readOwnerUrl();
  await assertDirect('The URL of the owner', url);
  // Only the owner can list all tenants. The rest runs with the service's role.
  const tenantIds = await withClient(url, async (client) => {
    const { rows } = await client.query<{ id: string }>('select id from tenants order by id');
    return rows.map(({ id }) => id);
  });
  const db = openDb({ url, size: 1, assumeRole: APP_ROLE, onError: () => {} });
  try {
    const { rehashed, unopened, backupCodes } = await rehashLookups(db, secrets, tenantIds, {
      dropsBackupCodes: values['drop-backup-codes'],
      print,
    });
    print(`API keys that now have the hash of this LOOKUP_KEY: ${rehashed}.`);
    if (values['drop-backup-codes']) print(`Deleted backup codes: ${backupCodes}.`);
    const faults = replaced
      ? await closeChains(
          { db, tenantIds, present: secrets.auditChain, replaced },
          values['accept-altered'],
          print,
        )
      : [];
    if (unopened > 0) faults.push(`API keys that cannot be decrypted: ${unopened}.`);
    if (faults.length > 0) throw new Error(faults.join('\n'));
  } finally {
    await db.close();
  }
}, USAGE);

async function readReplaced(path: string, present: ChainKeys): Promise<ChainKeys> {
  const hex = (path === '-' ? await text(process.stdin) : await readFile(path, 'utf8')).trim();
  if (!/^[0-9a-f]{64}$/i.test(hex))
    throw new Error(`${path} must contain the LOOKUP_KEY that was replaced: 64 hex digits.`);
  const replaced = openChainKeys(Buffer.from(hex, 'hex'));
  if (replaced.key === present.key)
    throw new Error(`${path} contains the present LOOKUP_KEY. Give the file of the key that was replaced.`);
  return replaced;
}

type Chains = { db: Db; tenantIds: string[]; present: ChainKeys; replaced: ChainKeys };

/** Returns one line per chain that was not closed. */
async function closeChains(
  { db, tenantIds, present, replaced }: Chains,
  acceptsAltered: boolean,
  print: (line: string) => void,
): Promise<string[]> {
  const faults: string[] = [];
  for (const tenantId of tenantIds) {
    const ctx = makeContext(db, { kind: 'system', tenantId }, `rehash ${newId()}`);
    const result = await closeChain(ctx, present, replaced, acceptsAltered);
    if (result.state === 'closed')
      print(
        `Closed the audit chain of tenant ${tenantId} after link ${result.links}, with the hash ${result.hash}.`,
      );
    if (result.state === 'altered')
      faults.push(
        `The audit chain of tenant ${tenantId} verifies with neither key at link ${result.flaw.sequence}: ${result.flaw.problem}. It is not closed. ` +
          'Check that the file has the key that chained it. If it has, follow "The audit chain" in docs/operations.md; then close it with --accept-altered.',
      );
  }
  return faults;
}
