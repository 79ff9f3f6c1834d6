import type { FastifyRequest } from 'fastify';
import type { Holder } from '../../limits/shared/amounts.js';
import { networkOf } from '../../values/network-address.js';

/**
 * Whose share of the memory or the disk a body takes. All users and keys of a courier share its space, also keys that it has replaced.
 * A request without a credential takes that of its address.
 */
export function holderOf({ caller, db, tenantId = '', clientAddress }: FastifyRequest): Holder {
  const nameOf = () => {
    if (caller && caller.kind !== 'key') return caller.courierId ?? caller.userId;
    // The account was checked before, so the courier is known.
    return caller
      ? (db?.connectionShares.courierOfKey(caller.keyHash) ?? caller.keyHash)
      : networkOf(clientAddress);
  };
  return { name: `${tenantId} ${nameOf()}`, tenant: tenantId };
}
