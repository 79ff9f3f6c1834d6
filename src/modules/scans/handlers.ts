import type { components } from '../../../generated/contract.js';
import type { Handlers } from '../../../generated/handlers.js';
import { recordOf } from '../../platform/contract/record.js';
import { reply } from '../../platform/contract/reply.js';
import type { DataOf } from '../../platform/contract/types.js';
import type { UserCaller } from '../../platform/identity/callers.js';
import { formatDateTime } from '../../platform/values/time.js';
import { shownTrackingNumber } from '../tracking-numbers/public.js';
import type { MatchedPackage } from './find-matches.js';
import type { NextStep } from './next-step.js';
import type { CustomerRow, ManifestRow, PrealertRow } from './queries.js';
import { resolveScan, type ScanResolution } from './resolve-scan.js';

const MESSAGES: Record<NextStep, string> = {
  receive: 'The parcel is not received yet.',
  load: 'Load it on its manifest.',
  already_received: 'This package was already received.',
  review: 'A person must decide what happens next.',
  unknown: 'Nothing is known about this scan.',
};

/** A courier is not told whether a parcel exists that is not its own. */
const MESSAGES_FOR_COURIERS: Partial<Record<NextStep, string>> = {
  receive: 'None of your packages has this number. It may not be received yet, or its owner is not known.',
  unknown: 'None of your records has this number.',
};

export function scanHandlers() {
  return {
    async resolveScan({ ctx, body }) {
      const resolution = await resolveScan(ctx, body.scan);
      const { next } = resolution;
      const own = ctx.caller.courierId === null ? undefined : MESSAGES_FOR_COURIERS[next];
      return reply(own ?? MESSAGES[next], viewResolution(ctx.caller, resolution));
    },
  } satisfies Partial<Handlers>;
}

type Schemas = components['schemas'];

const viewResolution = (
  caller: UserCaller,
  { text, numbers, candidates, kind, owner, matches, next }: ScanResolution,
): DataOf<'resolveScan'> => ({
  text,
  kind,
  numbers: numbers.map((number) => number.text),
  candidates: candidates.map((candidate) => recordOf(candidate)),
  owner: owner && recordOf(owner),
  matches: {
    packages: matches.packages.map((row) => viewPackage(caller, row)),
    prealerts: matches.prealerts.map(viewPrealert),
    manifests: matches.manifests.map(viewManifest),
    customers: matches.customers.map(viewCustomer),
  },
  next,
});

function viewPackage(caller: UserCaller, row: MatchedPackage): Schemas['ScannedPackage'] {
  const { id, trackingKey: _, weightLb, receivedAt, ...shown } = row;
  return {
    package_id: id,
    ...recordOf(shown),
    tracking_number: shownTrackingNumber(caller, row),
    weight: Number(weightLb),
    entry_date_time: formatDateTime(receivedAt),
  };
}

const viewPrealert = ({ id, trackingKey: _, ...row }: PrealertRow): Schemas['ScannedPrealert'] => ({
  prealert_id: id,
  ...recordOf(row),
});

const viewManifest = ({ id, ...row }: ManifestRow): Schemas['ScannedManifest'] => ({
  manifest_id: id,
  ...recordOf(row),
});

const viewCustomer = ({ id, isActive, ...row }: CustomerRow): Schemas['ScannedCustomer'] => ({
  courier_customer_id: id,
  ...recordOf(row),
  is_active: isActive ? 1 : 0,
});
