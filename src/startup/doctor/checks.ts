import { checkAuditChains } from './checks/audit.js';
import { checkConnections } from './checks/connections.js';
import { checkDeployments, checkOther, checkPublished } from './checks/deployments.js';
import { checkFolders } from '../shared-checks/folders.js';
import { checkMail, checkOutbound, checkRecipients } from './checks/mail.js';
import { checkMigrations } from './checks/migrations.js';
import { checkPooler } from './checks/pooler.js';
import { checkRights } from './checks/rights.js';
import { checkPassword, checkRoles } from './checks/roles.js';
import { checkAutovacuum, checkClock, checkExtensions, checkServer, checkTimeZone } from './checks/server.js';
import { checkSecretFiles, checkSettings } from './checks/settings.js';
import { checkSecrets } from '../shared-checks/secrets.js';
import { checkTls } from '../shared-checks/tls.js';
import { checkBacklog, checkBackground, checkMoves, checkPause, checkWorkers } from './checks/work.js';
import { checkWebhooks } from './checks/webhooks.js';
import type { Check, Connected, Subject } from './checks/subject.js';
import { checkConnectionEncryption } from './connection-encryption.js';
import { checkHostNames } from './host-names.js';
import { checkOwner } from './owner.js';
import { checkReplica } from './replica.js';
import { checkDurability, checkStorage } from './storage.js';
import { checkEncryption, checkStoredTexts } from './stored-fields.js';
import { checkSchema } from '../../platform/db/schema-check/check-schema.js';
import { orOk, problem, warning, type Finding } from '../shared-checks/finding.js';

/** These need no database. */
export const LOCAL: Check<Subject>[] = [
  { name: 'settings', run: checkSettings },
  { name: 'secrets', run: ({ config }) => checkSecrets(config) },
  { name: 'secrets', run: checkSecretFiles },
  { name: 'secrets', run: checkOther },
  { name: 'tls', run: checkTls },
  { name: 'folders', run: checkFolders },
  { name: 'mail', run: checkMail },
  { name: 'recipients', run: checkRecipients },
  { name: 'outbound', run: checkOutbound },
];

/** These work on any database. */
export const ANYWHERE: Check<Connected>[] = [
  { name: 'server', run: checkServer },
  { name: 'durability', run: checkDurability },
  { name: 'storage', run: checkStorage },
  { name: 'clock', run: checkClock },
  { name: 'time zone', run: checkTimeZone },
  { name: 'autovacuum', run: checkAutovacuum },
  { name: 'pooler', run: checkPooler },
  { name: 'connections', run: checkConnections },
  { name: 'connections', run: checkConnectionEncryption },
  { name: 'migrations', run: checkMigrations },
  { name: 'owner', run: checkOwner },
  { name: 'roles', run: checkRoles },
  { name: 'password', run: checkPassword },
];

/** These need every migration of this version. */
export const MIGRATED: Check<Connected>[] = [
  { name: 'extensions', run: checkExtensions },
  { name: 'rights', run: checkRights },
  { name: 'schema', run: checkProtections },
  { name: 'deployment', run: checkDeployments },
  { name: 'demo data', run: checkPublished },
  { name: 'host names', run: checkHostNames },
  { name: 'replica', run: checkReplica },
  { name: 'worker', run: checkWorkers },
  { name: 'pause', run: checkPause },
  { name: 'backlog', run: checkBacklog },
  { name: 'webhooks', run: checkWebhooks },
  { name: 'background', run: checkBackground },
  { name: 'moves', run: checkMoves },
  { name: 'audit', run: checkAuditChains },
  { name: 'encryption', run: checkEncryption },
  { name: 'texts', run: checkStoredTexts },
];

/** Compares row-level security, policies, triggers, functions, rights and constraints with what the migrations make. */
export async function checkProtections({ client }: Pick<Connected, 'client'>): Promise<Finding[]> {
  const differences = await checkSchema(client);
  // The database has other migrations, which another check reports.
  if (!differences) return [];
  return orOk(
    differences.map(({ isDangerous, message, remedy }) => (isDangerous ? problem : warning)(message, remedy)),
    'The schema is what the migrations make.',
  );
}
