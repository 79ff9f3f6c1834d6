import type { ManifestStatus } from '../../../platform/contract/types.js';

/** The steps of lives. docs/site/pages/sandbox-lives.md has the operation that each executes. */
export type StepName =
  | 'package_received'
  | 'package_put_away'
  | 'package_corrected'
  | 'package_held'
  | 'package_released'
  | 'package_lost'
  | 'package_returned'
  | 'prealert_reviewed'
  | 'parcel_claimed'
  | 'claim_approved'
  | 'manifest_created'
  | 'manifest_loaded'
  | `manifest_${Exclude<ManifestStatus, 'draft'>}`
  | 'bill_drafted'
  | 'bill_published';

export type Step = {
  name: StepName;
  /** When it is due, in hours of the sandbox after the start of the life. */
  afterHours: number;
};

const steps = (hours: Partial<Record<StepName, number>>): Step[] =>
  // The literals below have the names of steps alone. Their order is that of the keys.
  (Object.entries(hours) as [StepName, number][]).map(([name, afterHours]) => ({ name, afterHours }));

const RECEIVED = steps({ package_received: 2 });
const SHIPPED = steps({
  manifest_created: 24,
  manifest_loaded: 25,
  manifest_ready: 26,
  manifest_shipped: 30,
});
const DELIVERED = [...SHIPPED, ...steps({ manifest_completed: 72 })];
const BILLED = [...DELIVERED, ...steps({ bill_drafted: 720, bill_published: 721 })];

/** The lives, by the name that the contract gives them. */
export const LIVES = {
  happy: [...RECEIVED, ...steps({ package_put_away: 3 }), ...BILLED],
  weight: [...RECEIVED, ...steps({ package_corrected: 6 }), ...BILLED],
  hold: [...RECEIVED, ...steps({ package_held: 5, package_released: 20 }), ...DELIVERED],
  disputed: [...RECEIVED, ...steps({ prealert_reviewed: 10 }), ...DELIVERED],
  lost: [...RECEIVED, ...SHIPPED, ...steps({ package_lost: 60 })],
  returned: [...RECEIVED, ...DELIVERED, ...steps({ package_returned: 120 })],
  claimed: [...RECEIVED, ...steps({ parcel_claimed: 6, claim_approved: 12 }), ...DELIVERED],
} satisfies Record<string, Step[]>;

export type LifeName = keyof typeof LIVES;

export const isLifeName = (text: string): text is LifeName => Object.hasOwn(LIVES, text);

/** What a tracking number begins with that starts a life: `LIFE-HAPPY-`. */
export const PREFIX = 'LIFE-';

/** The lives that a pre-alert starts, as they stand in its number: between the prefix and the next hyphen. */
export const MAGIC_WORDS = Object.keys(LIVES)
  .filter((life) => life !== 'claimed')
  .map((life) => life.toUpperCase());
