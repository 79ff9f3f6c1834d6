export type TenantSlug = 'demo' | 'two';

// Two hex digits per kind, in the last group of the id. The first five are the same as in the contract's examples, so that
// an id copied from the API reference exists in the demo data.
const KINDS = {
  warehouse: '07',
  prealert: '0a',
  user: '0b',
  courier: '0c',
  manifest: '0d',
  package: '0e',
  tenant: '01',
  carrier: '02',
  customer: '03',
  bill: '04',
  backupCode: '05',
  billLine: '06',
  payment: '08',
  receivedEvent: '11',
  shippedEvent: '12',
} as const;

const TENANT_GROUPS = { demo: '9c5a', two: '9c5b' } as const satisfies Record<TenantSlug, string>;

/** Returns the id of the n-th row of its kind, counted from 1. It is a UUID of version 7 and always the same. */
export function demoId(tenant: TenantSlug, kind: keyof typeof KINDS, n: number): string {
  const high = (0xe11 + Math.floor(n / 256)).toString(16);
  const low = (n % 256).toString(16).padStart(2, '0');
  return `01930a3e-7c1d-7${high}-${TENANT_GROUPS[tenant]}-2f4b8d6e${KINDS[kind]}${low}`;
}
