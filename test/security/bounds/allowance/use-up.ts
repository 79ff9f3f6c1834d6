import { randomUUID } from 'node:crypto';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import type { Call, Reply, Service } from '../../../support/service/service.js';

/** The least allowance that an operator can set. */
export const SMALL = { WRITTEN_MIB_PER_DAY: '1' };

type Owner = { kind: 'courier' | 'user' | 'staff'; id: string };

export const ALL_OWNERS: Owner[] = [
  { kind: 'courier', id: DEMO.couriers.IEX },
  { kind: 'user', id: DEMO.users.admin },
  { kind: 'user', id: DEMO.users.manager },
];

/** Stores that the owners have written a terabyte, as another process would have. */
export async function storeUsedUp({ owner }: Service, owners: Owner[]): Promise<void> {
  for (const { kind, id } of owners)
    await owner.query(
      `insert into write_allowances (tenant_id, principal_kind, principal_id, courier_id, used, settled_at)
       values ($1, $2, $3::uuid, case $2 when 'courier' then $3::uuid end, 1099511627776, now())
       on conflict (tenant_id, principal_kind, principal_id) do update set used = excluded.used, settled_at = now()`,
      [DEMO.tenants.demo, kind, id],
    );
}

export const newCustomer = (as: string): Call => ({
  as,
  body: {
    user_code: `W${randomUUID().slice(0, 8)}`,
    first_name: 'F',
    last_name: 'L',
    ...(as === 'iex' ? {} : { courier_id: DEMO.couriers.IEX }),
  },
});

/** Returns how many calls were served before one was refused, and the refusal. */
export async function callUntilRefused(
  most: number,
  call: () => Promise<Reply>,
): Promise<{ served: number; refused: Reply }> {
  for (let served = 0; served <= most; served += 1) {
    const reply = await call();
    if (reply.status === 429) return { served, refused: reply };
    if (reply.status >= 300) throw new Error(`${reply.status} ${reply.bytes.toString()}`);
  }
  throw new Error(`None of ${most} calls was refused.`);
}

/** Uses up the allowances, and waits until the service knows it. */
export async function useUp(service: Service): Promise<void> {
  await storeUsedUp(service, ALL_OWNERS);
  for (const as of ['iex', 'admin', 'manager'])
    await callUntilRefused(10, () => service.call('createCustomer', newCustomer(as)));
}
