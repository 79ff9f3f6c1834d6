import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { readKeyedSettings } from '../config/command-settings.js';
import { commandLine } from '../config/commands.js';
import { readOwner } from '../config/config.js';
import { closeChain, findFlaw, type ChainFlaw, type CloseResult } from '../modules/audit-log/close-chain.js';
import {
  countOtherHashes,
  countUnopened,
  dropBackupCodes,
  rehashLookups,
} from '../modules/tenants/rehash.js';
import { openChainKeys } from '../platform/access/chain-keys.js';
import { openSecrets, type Secrets } from '../platform/access/secrets.js';
import { assertDirect } from '../platform/db/connections/pooler.js';
import { withClient } from '../platform/db/connections/roles.js';
import { assertNothingRuns, IGNORE_RUNNING } from '../platform/db/migrations/running-processes.js';
import { makeContext } from '../platform/context/request-context.js';
import type { Db } from '../platform/db/database.js';
import { readValues } from '../platform/db/connections/rows.js';
import { withServiceRole } from '../platform/db/open-database.js';
import { newId } from '../platform/values/ids.js';
import { assertOwnDatabase } from '../startup/database-owner.js';
import { isLookupKeyRecorded, recordLookupKey } from '../startup/deployment.js';
import { withOwner } from './run/owner.js';
import { runScript } from './run/script.js';

// npm run rehash: makes the hashes of all API keys, service tokens and tracking links again after LOOKUP_KEY was replaced. With --drop-backup-codes it also deletes
// the backup codes of all users, which no longer match. With --replaced-key FILE it closes the audit chains that the old LOOKUP_KEY in that
// file, or of the standard input with -, has chained, unless they were altered; --accept-altered closes those too. It checks everything
// before it changes anything, and replaces no key while servers or workers run, unless --despite-running-processes is given. --check, with the
// LOOKUP_KEY that is to be replaced, only finds out whether a replacement would be refused. docs/leaked-secrets.md has the steps.
const USAGE = `${commandLine('rehash [--drop-backup-codes] [--replaced-key FILE [--accept-altered] | --replaced-key-lost]')}
  [--skip-undecryptable] [--${IGNORE_RUNNING}]
${commandLine('rehash --check')}`;

const OLD_KEY =
  'They have the old LOOKUP_KEY, and would chain audit entries and store API keys with it, which nothing accepts afterwards.';

// Exit status 1, because the block of docs/leaked-secrets.md must not say OK when a second key has leaked: this run has not replaced it.
const ALREADY_REPLACED =
  'There was nothing to do, and nothing was changed: an earlier run has replaced the old key by this LOOKUP_KEY. Complete that replacement: start the service, ' +
  'and run its proof in docs/leaked-secrets.md. If this LOOKUP_KEY has leaked too, replace it afterwards.';

type Options = ReturnType<typeof readOptions>;
type Print = (line: string) => void;
type Opened = { db: Db; tenantIds: string[]; secrets: Secrets; replaced: Buffer | undefined };

await runScript(async (print) => {
  const options = readOptions();
  const { identity, secrets } = readKeyedSettings();
  const replaced = await readReplaced(options, secrets.lookupKey);
  const owner = readOwner();
  const { url } = owner;
  await assertDirect('The URL of the owner', url);
  await assertOwnDatabase(url, identity, {
    ...(replaced ? { replacedLookupKey: replaced } : {}),
    acceptsAnyLookupKey: options['replaced-key-lost'],
  });
  // Only the owner can list all tenants. The rest runs with the service's role.
  const tenantIds = await withOwner(async (client) => {
    if ((replaced || options.check) && !options[IGNORE_RUNNING])
      await assertNothingRuns(client, 'rehash', OLD_KEY);
    return readValues<string>(client, 'select id from tenants order by id');
  }, owner);
  await withServiceRole(url, async (db) => {
    const opened = { db, tenantIds, secrets: openSecrets(secrets), replaced };
    const faults = await findFaults(opened, options, print);
    if (faults.length > 0) throw new Error([...faults, 'Nothing was changed.'].join('\n'));
    if (options.check) {
      print('Nothing prevents a replacement of this LOOKUP_KEY. Nothing was changed.');
      return;
    }
    const isRecorded = await withClient(url, (client) =>
      isLookupKeyRecorded(client, identity.appEnv, secrets.lookupKey),
    );
    await change(opened, options, { print, isRecorded });
    await withClient(url, (client) => recordLookupKey(client, identity.appEnv, secrets.lookupKey));
  });
}, USAGE);

function readOptions() {
  const { values } = parseArgs({
    options: {
      check: { type: 'boolean', default: false },
      'drop-backup-codes': { type: 'boolean', default: false },
      'replaced-key': { type: 'string' },
      'replaced-key-lost': { type: 'boolean', default: false },
      'accept-altered': { type: 'boolean', default: false },
      'skip-undecryptable': { type: 'boolean', default: false },
      [IGNORE_RUNNING]: { type: 'boolean', default: false },
    },
  });
  if (values['replaced-key-lost'] && values['replaced-key'] !== undefined)
    throw new Error(`Give --replaced-key or --replaced-key-lost, not both.\n${USAGE}`);
  if (values.check && (values['replaced-key-lost'] || values['replaced-key'] !== undefined))
    throw new Error(`Give --check before LOOKUP_KEY is replaced, without a replaced key.\n${USAGE}`);
  return values;
}

/** Returns undefined if LOOKUP_KEY was not replaced. With a lost key no link verifies, and the entry that closes the chain says so. */
async function readReplaced(options: Options, present: Buffer): Promise<Buffer | undefined> {
  if (options['replaced-key-lost']) return randomBytes(32);
  const path = options['replaced-key'];
  if (path === undefined) return undefined;
  const hex = (path === '-' ? await text(process.stdin) : await readFile(path, 'utf8')).trim();
  if (!/^[0-9a-f]{64}$/i.test(hex))
    throw new Error(`${path} must contain the LOOKUP_KEY that was replaced: 64 hex digits.`);
  const replaced = Buffer.from(hex, 'hex');
  if (replaced.equals(present))
    throw new Error(`${path} contains the present LOOKUP_KEY. Give the file of the key that was replaced.`);
  return replaced;
}

/** Returns one line per fault that prevents any change. */
async function findFaults(opened: Opened, options: Options, print: Print): Promise<string[]> {
  const { db, tenantIds, secrets, replaced } = opened;
  const faults: string[] = [];
  const chained = options.check ? secrets.auditChain : replaced && openChainKeys(replaced);
  if (chained && !acceptsAltered(options))
    for (const tenantId of tenantIds) {
      const flaw = await findFlaw(contextOf(db, tenantId), secrets.auditChain, chained);
      if (flaw) faults.push(describeFlaw(tenantId, flaw));
    }
  const unopened = await countUnopened(db, secrets, tenantIds, print);
  if (unopened > 0 && !options['skip-undecryptable'])
    faults.push(
      `API keys, service tokens and tracking links that cannot be decrypted: ${unopened}. Correct ENCRYPTION_KEYS, replace them, or leave them ` +
        'invalid with --skip-undecryptable.',
    );
  const others = options.check ? await countOtherHashes(db, secrets, tenantIds) : 0;
  if (others > 0)
    faults.push(
      `API keys, service tokens and tracking links whose hash another LOOKUP_KEY has made: ${others}. Give the LOOKUP_KEY that the database uses. If this is that key, run ` +
        `${commandLine('rehash')}, which makes the hashes again.`,
    );
  return faults;
}

function describeFlaw(tenantId: string, { sequence, problem, isContinued }: ChainFlaw): string {
  if (isContinued)
    return (
      `The audit chain of tenant ${tenantId} was closed, and link ${sequence} after that does not have the present key. It is not closed again. ` +
      'If servers or workers ran while rehash replaced the key, they have continued it with the old one: stop them, and repeat with --accept-altered. ' +
      'Otherwise somebody who has the old key wrote it: follow "The audit chain" in docs/operations.md first.'
    );
  return (
    `The audit chain of tenant ${tenantId} verifies with neither key at link ${sequence}: ${problem}. It is not closed. ` +
    'Check that the file has the key that chained it. If it has, follow "The audit chain" in docs/operations.md; then close it with --accept-altered.'
  );
}

/**
 * What cannot be taken back comes last. An interrupted run is repeated from the beginning.
 *
 * @param isRecorded whether a completed run, or a start, has recorded this LOOKUP_KEY
 * @throws Error when an earlier run has done everything. It would delete the backup codes that users have made since then
 */
async function change(
  opened: Opened,
  options: Options,
  { print, isRecorded }: { print: Print; isRecorded: boolean },
) {
  const { db, tenantIds, secrets } = opened;
  const closed = await closeChains(opened, acceptsAltered(options), print);
  const rehashed = await rehashLookups(db, secrets, tenantIds);
  const { api_key: keys, service_token: tokens, tracking_link: links } = rehashed;
  if (opened.replaced && closed === 0 && keys + tokens + links === 0 && isRecorded)
    throw new Error(ALREADY_REPLACED);
  print(`API keys that now have the hash of this LOOKUP_KEY: ${keys}.`);
  print(`Service tokens that now have the hash of this LOOKUP_KEY: ${tokens}.`);
  print(`Tracking links that now have the hash of this LOOKUP_KEY: ${links}.`);
  if (options['drop-backup-codes']) print(`Deleted backup codes: ${await dropBackupCodes(db, tenantIds)}.`);
}

/** Returns how many chains it has closed. */
async function closeChains(
  { db, tenantIds, secrets, replaced }: Opened,
  accepts: boolean,
  print: Print,
): Promise<number> {
  if (!replaced) return 0;
  let closed = 0;
  for (const tenantId of tenantIds) {
    const ctx = contextOf(db, tenantId);
    const result = await closeChain(ctx, secrets.auditChain, openChainKeys(replaced), accepts);
    if (result.state === 'altered') throw new Error('An audit chain was altered meanwhile. Repeat.');
    if (result.state !== 'closed') continue;
    closed += 1;
    for (const line of describeClosed(tenantId, result)) print(line);
  }
  return closed;
}

/** A verification from the beginning reports accepted entries forever, because nothing proves who wrote them. */
function describeClosed(
  tenantId: string,
  { links, hash, isIntact }: Extract<CloseResult, { state: 'closed' }>,
): string[] {
  const closed = `Closed the audit chain of tenant ${tenantId} after link ${links}, with the hash ${hash}.`;
  if (isIntact) return [closed];
  return [
    closed,
    `Keep that link and its hash. A verification from the beginning reports the accepted entries; with "after": ${links} it begins behind them, and says whether everything since then is intact.`,
  ];
}

function acceptsAltered(options: Options): boolean {
  return options['accept-altered'] || options['replaced-key-lost'];
}

function contextOf(db: Db, tenantId: string) {
  return makeContext(db, { kind: 'system', tenantId }, `rehash ${newId()}`);
}
