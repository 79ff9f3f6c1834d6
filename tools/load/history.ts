import type { Row } from '../../fixtures/demo/values/rows.js';
import type { Flight } from './flights.js';
import type { Traffic, Parcel, Prealert } from './parcels.js';
import type { TenantPlan } from './tenant-plan.js';
import { iso } from './values/time.js';

/** An entry of the audit log. */
export type Entry = {
  atMs: number;
  actorKind: 'user' | 'api_key';
  actorId: string;
  action: string;
  entity: string;
  entityId: string;
  before?: object;
  after?: object;
};

/** The entries about parcels and flights. */
export function historyOf(plan: TenantPlan, flights: Flight[], traffic: Traffic): Entry[] {
  const { staff } = plan;
  const byStaff = (actorId: string) => ({ actorKind: 'user' as const, actorId });
  const prealerts = traffic.prealerts.map((prealert): Entry => ({
    ...{ atMs: prealert.createdMs, actorKind: 'api_key', actorId: prealert.courier.id },
    ...{ action: 'prealert.created', entity: 'prealert', entityId: prealert.id },
    after: auditedFields.prealert(prealert),
  }));
  const parcels = traffic.parcels.flatMap((parcel) =>
    parcel.steps.flatMap((step): Entry[] => {
      const about = { atMs: step.atMs, entity: 'package', entityId: parcel.id };
      if (step.source === 'intake')
        return [
          {
            ...about,
            ...byStaff(staff.warehouse),
            action: 'package.received',
            after: auditedFields.parcel(parcel),
          },
        ];
      if (step.source === 'manifest') return [];
      const change = { before: { status: step.previous }, after: { status: step.status } };
      return [{ ...about, ...byStaff(staff.warehouse), action: 'package.status_changed', ...change }];
    }),
  );
  const manifests = flights.flatMap((flight): Entry[] => {
    const about = { ...byStaff(staff.manager), entity: 'manifest', entityId: flight.id };
    const after = { manifest_number: flight.number, awb_number: flight.awb, status: 'draft' };
    const moves = flight.transitions.map(({ status, atMs }, n) => ({
      ...{ ...about, atMs, action: 'manifest.status_changed', after: { status } },
      before: { status: flight.transitions[n - 1]?.status ?? 'draft' },
    }));
    return [{ ...about, atMs: flight.createdMs, action: 'manifest.created', after }, ...moves];
  });
  return [...prealerts, ...parcels, ...manifests];
}

export function entryRows({ id: tenantId, random }: TenantPlan, entries: Entry[]): Row[] {
  return entries
    .toSorted((a, b) => a.atMs - b.atMs)
    .map(({ atMs, actorKind, actorId, action, entity, entityId, before, after }) => ({
      ...{
        tenant_id: tenantId,
        id: random.id(atMs),
        at: iso(atMs),
        actor_kind: actorKind,
        actor_id: actorId,
      },
      ...{ action, entity, entity_id: entityId },
      before: before ?? null,
      after: after ?? null,
      request_id: random.id(atMs),
    }));
}

/** The values that the service records of an intake and of a pre-alert. */
const auditedFields = {
  parcel: ({ courier, customer, trackingNumber, houseNumber, contents, prealertId }: Parcel) => ({
    courier_id: courier?.id ?? null,
    user_code: customer?.userCode ?? null,
    tracking_number: trackingNumber,
    house_number: houseNumber,
    weight_lb: contents.weightLb,
    shipper: contents.shipper,
    prealert_id: prealertId,
  }),
  prealert: ({ id, courier, userCode, trackingNumber, contents, status }: Prealert) => ({
    ...{ id, courier_id: courier.id, user_code: userCode, tracking_number: trackingNumber },
    ...{ vendor: contents.shipper, description: contents.description },
    status: status === 'flagged' ? 'flagged' : 'pending',
  }),
};
