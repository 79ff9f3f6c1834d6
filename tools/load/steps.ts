import type { Flight } from './flights.js';
import type { TenantPlan } from './tenant-plan.js';
import { HOUR_MS } from './values/time.js';

type Status =
  | 'received'
  | 'shipped'
  | 'in_transit'
  | 'delivered'
  | 'on_hold'
  | 'customs_hold'
  | 'returned'
  | 'lost';

/** A change of a package's status. */
export type Step = {
  status: Status;
  previous: Status | null;
  atMs: number;
  source: 'intake' | 'manifest' | 'recorded';
  remarks: string | null;
};

/** The further statuses of a parcel, in order, with the hours after the step before. */
type Story = { percent: number; steps: [status: Status, hours: number, remarks?: string][] };

// In percent of all parcels. The others go the usual way.
const BEFORE_FLIGHT: Story[] = [
  { percent: 0.4, steps: [['returned', 30, 'Refused by the customer']] },
  { percent: 0.8, steps: [['on_hold', 3, 'Invoice missing']] },
];
const AFTER_FLIGHT: Story[] = [
  { percent: 0.2, steps: [['lost', 60, 'Not found at unloading']] },
  {
    percent: 2,
    steps: [
      ['customs_hold', 7, 'Duty to be paid'],
      ['shipped', 40, 'Released'],
      ['delivered', 30],
    ],
  },
  { percent: 35, steps: [['in_transit', 5]] },
];

/** Returns what happens to a parcel until the end of the period, and the flight if it is on one. */
export function stepsOf(
  plan: TenantPlan,
  receivedMs: number,
  boarding: Flight | null,
): { flight: Flight | null; steps: Step[] } {
  const steps: Step[] = [
    { status: 'received', previous: null, atMs: receivedMs, source: 'intake', remarks: null },
  ];
  const stopped = drawn(plan, BEFORE_FLIGHT);
  if (stopped) {
    tell(plan, steps, stopped);
    return { flight: null, steps };
  }
  const shipped = boarding?.transitions.find(({ status }) => status === 'shipped');
  if (!shipped) return { flight: boarding, steps };
  add(plan, steps, { status: 'shipped', atMs: shipped.atMs, source: 'manifest' });
  const story = drawn(plan, AFTER_FLIGHT);
  if (story) tell(plan, steps, story);
  const completed = boarding?.transitions.find(({ status }) => status === 'completed');
  const last = steps.at(-1);
  // A status that staff recorded takes precedence. What follows the flight was recorded before it was completed.
  if (completed && last && ['shipped', 'in_transit'].includes(last.status) && last.atMs < completed.atMs)
    add(plan, steps, { status: 'delivered', atMs: completed.atMs, source: 'manifest' });
  return { flight: boarding, steps };
}

function drawn({ random }: TenantPlan, stories: Story[]): Story | undefined {
  return stories.find(({ percent }) => random.isOne(percent));
}

function tell(plan: TenantPlan, steps: Step[], { steps: told }: Story): void {
  for (const [status, hours, remarks] of told) {
    const atMs = (steps.at(-1)?.atMs ?? plan.endMs) + hours * HOUR_MS + plan.random.whole(0, 3_000) * 1_000;
    if (!add(plan, steps, { status, atMs, source: 'recorded', remarks: remarks ?? null })) return;
  }
}

type NewStep = Pick<Step, 'status' | 'atMs' | 'source'> & { remarks?: string | null };

/** Returns false for a step after the end of the period, which has not happened yet. */
function add({ endMs }: TenantPlan, steps: Step[], { remarks = null, ...step }: NewStep): boolean {
  const previous = steps.at(-1)?.status ?? null;
  if (step.atMs >= endMs) return false;
  steps.push({ ...step, previous, remarks });
  return true;
}
