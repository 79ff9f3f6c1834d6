import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { doneSince } from '../../../src/commands/restore-report/queries.js';
import { countOtherHashes, countUnopened, rehashLookups } from '../../../src/modules/tenants/rehash.js';
import { openSecrets, type Secrets } from '../../../src/platform/access/secrets.js';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { developmentConfig } from '../../support/staging/development.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';

const { api, db, service } = withService();

test('a new LOOKUP_KEY ends both secrets of a token, and rehash makes both valid again', async () => {
  const manage = async (body: object) =>
    (
      await api
        .as('iex')
        .manageServiceTokens(unchecked({ ...body, current_password: DEMO.password }))
        .ok()
    ).data;
  const created = await manage({ action: 'create', name: 'kept', scopes: ['packages:read'] });
  const { token_id: id } = created.service_token;
  const rotated = await manage({ action: 'rotate', token_id: id });
  const hashes = async () => {
    const { token_hash, previous_hash } = await db.one('service_tokens', { id });
    return [token_hash, previous_hash];
  };
  const before = await hashes();
  const { secrets } = developmentConfig({ DATABASE_URL: 'postgresql://unused' });
  const replaced = openSecrets({ ...secrets, lookupKey: randomBytes(32) });
  const other = openSecrets(secrets);
  const lines: string[] = [];
  const tenants = [DEMO.tenants.demo];
  expect(await countUnopened(service().db, replaced, tenants, (line) => lines.push(line))).toBe(0);
  const keys = await db.count('couriers', { tenant_id: DEMO.tenants.demo });
  const countOthers = (key: Secrets) => countOtherHashes(service().db, key, tenants);
  expect([await countOthers(other), await countOthers(replaced)]).toEqual([0, keys + 2]);
  expect(await rehashLookups(service().db, replaced, tenants)).toMatchObject({ service_token: 2 });
  const packages = (token: string | null) => api.withToken(token ?? '').listPackages({});
  for (const token of [created.token, rotated.token])
    await packages(token).refused(401, 'service_token_invalid');
  const during = await hashes();
  expect(during.filter((hash) => before.includes(hash))).toEqual([]);
  expect(await rehashLookups(service().db, other, tenants)).toMatchObject({ service_token: 2 });
  expect(await hashes()).toEqual(before);
  for (const token of [created.token, rotated.token]) await packages(token).ok();
  expect(lines).toEqual([]);
});

test('the report after a restore attributes what a token has done to its courier', async () => {
  const { data } = await api
    .as('iex')
    .manageServiceTokens({
      action: 'create',
      name: 'reported',
      scopes: ['prealerts:write'],
      current_password: DEMO.password,
    })
    .ok();
  const since = new Date(Date.now() - 60_000);
  const created = await api
    .withToken(data.token ?? '')
    .submitPrealert({ UserCode: 'IEX-1001', TrackingNumber: 'REPORTED-1' })
    .created();
  const ctx = makeContext(service().db, { kind: 'system', tenantId: DEMO.tenants.demo }, 'report');
  const [rows] = await ctx.read([doneSince(ctx, since)]);
  const own = rows.filter(({ kind, id }) => kind === 'change' && id === created.data.prealert_id);
  expect(own.map(({ courierId }) => courierId)).toEqual([DEMO.couriers.IEX]);
});
