import type { FastifyRequest } from 'fastify';
import type { Holder } from '../../limits/shared/amounts.js';
import { networksOf } from '../../values/network-address.js';

/**
 * Whose share of the memory or the disk a body takes. All users and keys of a courier share its space, also keys that it has replaced.
 * A request without a credential takes that of its block of networks.
 */
export function holderOf({ caller, db, tenantId = '', clientAddress }: FastifyRequest): Holder {
  // Such a request may name any tenant.
  if (!caller) return { name: networksOf(clientAddress).block, tenant: tenantId };
  // The account was checked before, so the courier of a key is known, and what a service token claims is right.
  const name =
    caller.kind === 'key'
      ? (db?.connectionShares.courierOfKey(caller) ?? caller.keyHash)
      : (caller.courierId ?? caller.userId);
  return { name: `${tenantId} ${name}`, tenant: tenantId };
}
