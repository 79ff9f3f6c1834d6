/**
 * Credentials of the demo data, which everybody can read. Staging and production refuse to serve a database that contains them
 * (docs/decisions/0067).
 */
export const PUBLISHED = {
  /** The ids of the demo tenants. */
  tenantIds: { demo: '01930a3e-7c1d-7e11-9c5a-2f4b8d6e0101', two: '01930a3e-7c1d-7e11-9c5b-2f4b8d6e0101' },
  /** The password of every demo user. */
  password: 'crossdock-demo',
  /** The authenticator secret of the demo user `guarded`, in base 32. */
  totpSecret: 'KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU',
  apiKeys: { IEX: 'a'.repeat(64), HRB: 'b'.repeat(64), TWO: 'c'.repeat(64) },
};
