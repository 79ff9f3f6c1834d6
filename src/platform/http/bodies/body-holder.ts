import type { FastifyRequest } from 'fastify';
import type { Holder } from '../../limits/shared/amounts.js';
import { networksOf } from '../../values/network-address.js';

/**
 * Whose share of the memory or the disk a body takes. All users and keys of a courier share its space, also keys that it has replaced.
 * A request without a credential takes that of its block of networks.
 */
export function holderOf({ caller, db, tenantId = '', clientAddress }: FastifyRequest): Holder {
  const nameOf = () => {
    if (caller && caller.kind !== 'key') return caller.courierId ?? caller.userId;
    // The account was checked before, so the courier is known.
    return caller
      ? (db?.connectionShares.courierOfKey(caller.keyHash) ?? caller.keyHash)
      : networksOf(clientAddress).block;
  };
  return { name: `${tenantId} ${nameOf()}`, tenant: tenantId };
}
