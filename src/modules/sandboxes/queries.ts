import { columns } from '../../platform/db/columns.js';
import { ownRows, tenantRows } from '../../platform/db/filters.js';
import type { PersonScope } from '../../platform/db/scope.js';
import { once, type RowOf, type Sql } from '../../platform/db/statements.js';

const SANDBOX = columns('Sandbox', 's', ['id', 'courierId', 'pathKey', 'sandboxCourierId', 'createdAt']);
const COURIER = columns('Courier', 'c', { courierName: 'name' });

export type SandboxRow = RowOf<typeof SANDBOX> & RowOf<typeof COURIER>;

/** The open sandbox of a courier. */
export const openSandbox = (ctx: PersonScope, courierId: string): Sql<SandboxRow> => once`
  select ${SANDBOX}, ${COURIER}
  from sandboxes s join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = s.tenant_id and c.id = s.courier_id
  where ${ownRows(ctx, 's')} and s.courier_id = ${courierId}::uuid and s.ended_at is null`;

/** The courier, and whether the caller may make and end its sandbox: staff, and the courier's owners. */
export const selectCourier = (
  ctx: PersonScope,
  courierId: string,
): Sql<{ code: string; mayManage: boolean }> => once`
  select c.code, exists (select from users u where ${tenantRows(ctx, 'u')} and u.id = ${ctx.caller.userId}::uuid
      and (u.courier_id is null or (u.courier_id = c.id and u.is_courier_owner))) as "mayManage"
  from couriers c where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid`;

export type NewSandbox = { id: string; courierId: string; pathKey: string; sandboxCourierId: string };

/** Returns no row if the courier has an open sandbox. */
export const insertSandbox = (ctx: PersonScope, sandbox: NewSandbox): Sql<{ id: string }> => once`
  insert into sandboxes (tenant_id, id, courier_id, path_key, sandbox_courier_id, created_by)
  values (${ctx.tenantId}::uuid, ${sandbox.id}::uuid, ${sandbox.courierId}::uuid, ${sandbox.pathKey},
    ${sandbox.sandboxCourierId}::uuid, ${ctx.caller.userId}::uuid)
  on conflict (tenant_id, courier_id) where ended_at is null do nothing
  returning id`;

/** What the first records of a sandbox are made of, besides copies of live ones. The names are those of the function `fill_sandbox`. */
export type FirstRecords = {
  courier_id: string;
  warehouse_id: string;
  user_id: string;
  password_hash: string;
  api_key_hash: string;
  api_key_cipher: string;
  token: {
    id: string;
    name: string;
    scopes: string[];
    token_hash: string;
    digest_cipher: string;
    hint: string;
    days: number;
  };
  customers: { id: string; code: string; first_name: string; last_name: string }[];
};

/** Adds the tenant of a sandbox and its path, and then its first records. */
export const fillSandbox = ({ id, courierId, pathKey }: NewSandbox, first: FirstRecords): Sql[] => [
  once`select open_sandbox(${id}::uuid, ${pathKey}, ${courierId}::uuid)`,
  once`select fill_sandbox(${id}::uuid, ${courierId}::uuid, ${JSON.stringify(first)}::jsonb)`,
];
