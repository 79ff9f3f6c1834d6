import { beforeAll, expect } from '@jest/globals';
import { makeBilling, type Billing } from '../../support/builders/billing.js';
import { assignedLater } from '../../support/fixture/assigned-later.js';
import { withService } from '../../support/fixture/with-service.js';
import { fingerprint } from '../../support/readers/fingerprint.js';
import { type Reply } from '../../support/service/service.js';

export const UNKNOWN_ID = '01930a3e-7c1d-7e11-9c5a-000000000000';

export const data = ({ body }: Reply) => body['data'];

export function expectError(reply: Reply, status: number, code: string, field?: string): void {
  expect([reply.status, reply.body['code']]).toEqual([status, code]);
  if (field) expect(reply.body['errors']).toMatchObject([{ field }]);
}

/** A service with builders and calls for bills, and the stored results of them. */
export function withBilling() {
  const fixture = withService();
  const { service } = fixture;
  const [billing, setBilling] = assignedLater<Billing>('billing');
  beforeAll(() => setBilling(makeBilling(service())));

  /** Asserts that neither the rows nor the audit log changed. */
  async function expectNothingWritten(act: () => Promise<unknown>): Promise<void> {
    const before = await fingerprint(service().owner);
    await act();
    expect(await fingerprint(service().owner)).toEqual(before);
  }

  const auditOf = (billId: string) =>
    billing.rows(
      'select action, entity, actor_id, before, after, request_id from audit_entries where entity_id = $1 order by id',
      [billId],
    );

  const linesOf = async (billId: string) => data(await billing.read(billId)).lines;

  return { ...fixture, billing, expectNothingWritten, auditOf, linesOf };
}
