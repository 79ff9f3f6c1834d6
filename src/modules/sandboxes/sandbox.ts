import { randomBytes } from 'node:crypto';
import type { components } from '../../../generated/contract.js';
import { newServiceToken } from '../../platform/access/service-tokens.js';
import { auditLater } from '../../platform/audit/audit.js';
import type { PersonContext } from '../../platform/context/request-context.js';
import { ApiError } from '../../platform/errors/errors.js';
import { assertQuotaLeft, quotaOf, selectUsage, takeQuota } from '../../platform/limits/stored/quotas.js';
import { newId, randomText } from '../../platform/values/ids.js';
import { endSandbox, newApiKey } from '../couriers/public.js';
import type { Deps } from '../dependencies.js';
import { DEFAULT_DAYS, SCOPES_OF_COURIERS, storedToken } from '../service-tokens/public.js';
import {
  fillSandbox,
  insertSandbox,
  openSandbox,
  selectCourier,
  type FirstRecords,
  type NewSandbox,
  type SandboxRow,
} from './queries.js';

type Credentials = NonNullable<components['schemas']['SandboxCredentials']>;

const SANDBOXES = quotaOf('sandboxes');
/** 103 bits: the path alone tells nobody else where a sandbox is. */
const KEY_LENGTH = 20;
const KEY_LETTERS = '0123456789abcdefghijklmnopqrstuvwxyz';

const CUSTOMERS = [
  { code: '1', first_name: 'Ana', last_name: 'Sample' },
  { code: '2', first_name: 'Ben', last_name: 'Sample' },
  { code: '3', first_name: 'Carla', last_name: 'Sample' },
];

/** Returns the open sandbox of a courier; undefined if there is none. @throws ApiError courier_not_found */
export async function readSandbox(ctx: PersonContext, courierId: string): Promise<SandboxRow | undefined> {
  const [[sandbox], [courier]] = await ctx.read([openSandbox(ctx, courierId), selectCourier(ctx, courierId)]);
  if (!courier) throw new ApiError('courier_not_found');
  return sandbox;
}

/**
 * Makes the sandbox of a courier: a tenant of its own, with its first records and credentials. Returns the credentials, which are stored as
 * hashes and ciphertexts only.
 *
 * @throws ApiError courier_not_found, permission_denied, sandbox_exists, quota_exceeded, overloaded
 */
export async function createSandbox(
  ctx: PersonContext,
  { secrets, passwords, loginLimiter }: Pick<Deps, 'secrets' | 'passwords' | 'loginLimiter'>,
  courierId: string,
): Promise<{ row: SandboxRow; credentials: Credentials }> {
  const [[courier], [existing], usage] = await ctx.read([
    selectCourier(ctx, courierId),
    openSandbox(ctx, courierId),
    selectUsage(ctx, SANDBOXES, courierId),
  ]);
  const { code } = assertMayManage(courier);
  if (existing) throw new ApiError('sandbox_exists');
  // Before the hash, which takes a quarter of a second.
  assertQuotaLeft(ctx, SANDBOXES, usage);
  // Nobody knows the password of the user that plays the staff.
  const nobodys = randomBytes(32).toString('base64url');
  const passwordHash = await loginLimiter.hashFor(ctx.caller, () => passwords.hash(nobodys));
  const sandbox = {
    id: newId(),
    courierId,
    pathKey: randomText(KEY_LETTERS, KEY_LENGTH),
    sandboxCourierId: newId(),
  };
  const { first, ...secret } = firstRecords(secrets, sandbox, passwordHash);
  const row = await ctx.write(async (tx) => {
    const [inserted] = await tx.query(insertSandbox(ctx, sandbox));
    if (!inserted) throw new ApiError('sandbox_exists');
    for (const statement of fillSandbox(sandbox, first)) await tx.query(statement);
    auditLater(tx, 'courier.sandbox_created', courierId, { after: { sandbox_id: sandbox.id } });
    const [stored] = await tx.query(openSandbox(ctx, courierId));
    if (!stored) throw new Error('The sandbox was not stored.');
    await takeQuota(tx, SANDBOXES, courierId, 1);
    return stored;
  });
  const userCodes = CUSTOMERS.map((customer) => `${code}-${customer.code}`);
  return { row, credentials: { ...secret, user_codes: userCodes } };
}

/**
 * Ends the sandbox of a courier: its credentials, its path and its webhooks.
 * @throws ApiError courier_not_found, permission_denied, sandbox_not_found
 */
export async function closeOpenSandbox(ctx: PersonContext, courierId: string): Promise<SandboxRow> {
  return ctx.write(async (tx) => {
    const [courier] = await tx.query(selectCourier(ctx, courierId));
    assertMayManage(courier);
    const [row] = await tx.query(openSandbox(ctx, courierId));
    if (!row || !(await endSandbox(tx, courierId))) throw new ApiError('sandbox_not_found');
    return row;
  });
}

function assertMayManage<Courier extends { mayManage: boolean }>(courier: Courier | undefined): Courier {
  if (!courier) throw new ApiError('courier_not_found');
  if (!courier.mayManage) throw new ApiError('permission_denied', { variant: 'sandbox_owners' });
  return courier;
}

function firstRecords(
  secrets: Deps['secrets'],
  { id: tenantId, sandboxCourierId: courierId }: NewSandbox,
  passwordHash: string,
): { first: FirstRecords } & Pick<Credentials, 'api_key' | 'service_token'> {
  const apiKey = newApiKey(secrets, tenantId, courierId);
  const tokenId = newId();
  const token = newServiceToken({ tokenId, courierId });
  const stored = storedToken(secrets, tenantId, tokenId, token);
  const first: FirstRecords = {
    courier_id: courierId,
    warehouse_id: newId(),
    user_id: newId(),
    password_hash: passwordHash,
    api_key_hash: apiKey.columns.apiKeyHash,
    api_key_cipher: apiKey.columns.apiKeyCipher,
    token: {
      id: tokenId,
      name: 'sandbox',
      scopes: SCOPES_OF_COURIERS,
      token_hash: stored.tokenHash,
      digest_cipher: stored.digestCipher,
      hint: stored.hint,
      days: DEFAULT_DAYS,
    },
    customers: CUSTOMERS.map((customer) => ({ id: newId(), ...customer })),
  };
  return { first, api_key: apiKey.key, service_token: token };
}
