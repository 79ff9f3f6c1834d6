/** The events that staff record. */
export const EVENTS = [
  'on_hold',
  'customs_hold',
  'released',
  'in_transit',
  'delivered',
  'returned',
  'lost',
] as const;

export type EventKind = (typeof EVENTS)[number];

/** A parcel as the dialogs of its changes need it. */
export type Parcel = { package_id: string; house_number: string; status: string };

const HOLDS = ['on_hold', 'customs_hold'];

/** Where each event may come from: the table of `RecordPackageEvent` in the contract, without the changes that change nothing. */
const FROM: Record<EventKind, string[]> = {
  on_hold: ['received', 'shipped', 'in_transit', 'customs_hold'],
  customs_hold: ['received', 'shipped', 'in_transit', 'on_hold'],
  released: [...HOLDS, 'lost'],
  in_transit: ['received', 'shipped', ...HOLDS, 'lost'],
  delivered: ['shipped', 'in_transit', ...HOLDS, 'lost'],
  returned: ['received', 'shipped', 'in_transit', ...HOLDS, 'lost', 'delivered'],
  lost: ['received', 'shipped', 'in_transit', ...HOLDS],
};

/** Whether a parcel with this status can have the event. The service decides. */
export const canRecord = (status: string, event: EventKind): boolean => FROM[event].includes(status);

/** Whether `released` leads back: after a hold or a loss, unless the parcel was on hold or lost before. */
export const canBeUndone = (event: EventKind, parcels: Parcel[]): boolean =>
  (event === 'lost' || HOLDS.includes(event)) &&
  parcels.every(({ status }) => ['received', 'shipped', 'in_transit'].includes(status));

const NAMED = 5;

/** The house numbers of parcels, the first ones of many. */
export function namesOf(parcels: Parcel[]): string {
  const names = parcels.slice(0, NAMED).map(({ house_number }) => house_number);
  return [...names, ...(parcels.length > NAMED ? ['…'] : [])].join(', ');
}
