import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { readConfig } from '../../../src/config/config.js';
import { createTenant } from '../../../src/modules/tenants/tenant.js';
import { openSecrets } from '../../../src/platform/access/secrets.js';
import { newId } from '../../../src/platform/values/ids.js';
import { describeDeployment, recordDeployment } from '../../../src/startup/deployment.js';
import { makeFolder } from '../service/processes.js';
import { documentedDatabase, type DocumentedDatabase } from './documented-database.js';

/** The keys of a deployment. */
export type Keys = { TOKEN_KEYS: string; ENCRYPTION_KEYS: string; LOOKUP_KEY: string };

const hex = () => randomBytes(32).toString('hex');

export const newKeys = (): Keys => ({
  TOKEN_KEYS: `k1:${hex()}`,
  ENCRYPTION_KEYS: `1:${hex()}`,
  LOOKUP_KEY: hex(),
});

/** A database that a deployment of production has used: a tenant with an administrator, a courier and a backup code. */
export type Deployed = {
  database: DocumentedDatabase;
  /** A superuser's connection, for what a test plants and reads. */
  owner: pg.Client;
  keys: Keys;
  urls: DocumentedDatabase['urls'];
  login: string;
  drop(): Promise<void>;
};

export const DEPLOYMENT = 'crossdock-production';

export async function deployProduction(keys = newKeys()): Promise<Deployed> {
  const database = await documentedDatabase();
  const { urls, login } = database;
  const owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await addRows(owner, keys);
  const settings = {
    APP_ENV: 'production',
    DEPLOYMENT,
    TRUST_PROXY: '127.0.0.1',
    DATABASE_URL: urls.DATABASE_URL,
    ...keys,
  };
  await recordDeployment(owner, describeDeployment(readConfig(settings)));
  const deployed: Deployed = {
    database,
    owner,
    keys,
    urls,
    login,
    async drop() {
      // A test may have opened it again.
      await deployed.owner.end();
      await database.drop();
    },
  };
  return deployed;
}

async function addRows(owner: pg.Client, keys: Keys): Promise<void> {
  const admin = { username: 'admin', fullName: 'Ada', password: 'a long enough secret of nobody' };
  const tenant = { slug: 'miami', name: 'Miami', hosts: ['gateway.example.com'], warehouse: 'Miami', admin };
  const { tenantId } = await createTenant(owner, tenant, { passwordHashCost: 4 });
  const secrets = openSecrets(
    readConfig({ APP_ENV: 'development', ENCRYPTION_KEYS: keys.ENCRYPTION_KEYS, LOOKUP_KEY: keys.LOOKUP_KEY })
      .secrets,
  );
  for (const code of ['IEX', 'HRB']) {
    const rowId = newId();
    await owner.query(
      `insert into couriers (tenant_id, id, code, name, api_key_hash, api_key_cipher) values ($1, $2, $3, $3, $4, $5)`,
      [
        tenantId,
        rowId,
        code,
        secrets.lookupHash(code, 'api_key'),
        secrets.encrypt(code, { tenantId, rowId, field: 'api_key' }),
      ],
    );
  }
  await owner.query(
    `insert into backup_codes (tenant_id, id, user_id, code_hash) select tenant_id, $1, id, 'hash' from users`,
    [newId()],
  );
}

/** Writes a folder as deploy/make-secrets.sh does for a server behind a pooler. */
export async function writeSecrets(files: Record<string, string>): Promise<string> {
  const folder = await makeFolder();
  const all = { ...files, DATABASE_DIRECT_URL: files['DATABASE_URL'] ?? '' };
  for (const [name, value] of Object.entries(all)) writeFileSync(join(folder, name), `${value}\n`);
  return folder;
}

/** What a refused command must not change, as one text. */
export async function readState(owner: pg.Client): Promise<string> {
  const { rows } = await owner.query<{ state: string }>(
    `select jsonb_build_array(
       (select jsonb_agg(d order by d.name, d.app_env) from installation.deployments d),
       (select jsonb_agg(o) from installation.outbound o),
       (select jsonb_agg(m order by m.name) from installation.background_migrations m),
       (select jsonb_agg(t order by t.id) from tenants t),
       (select jsonb_agg(h order by h.host) from tenant_hosts h),
       (select jsonb_agg(u order by u.id) from users u),
       (select jsonb_agg(c order by c.id) from couriers c),
       (select jsonb_agg(b order by b.id) from backup_codes b),
       (select count(*) from audit_entries),
       (select count(*) from audit_links))::text as state`,
  );
  return rows[0]?.state ?? '';
}
