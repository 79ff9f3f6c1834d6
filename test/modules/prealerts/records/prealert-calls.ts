import { DEMO } from '../../../../fixtures/demo/seed.js';
import { unchecked } from '../../../support/fixture/sent.js';
import type { Fixture } from '../../../support/fixture/with-service.js';
import { type Reply } from '../../../support/service/service.js';

export const UNKNOWN_ID = '01930a3e-0000-7000-8000-000000000000';

let serial = 0;
export const newNumber = () => `TEST-${(serial += 1)}`;

/** Returns everything by which a caller could distinguish two rejections. */
export const distinguishable = ({ status, body }: Reply) => ({
  status,
  ...body,
  request_id: '',
  timestamp: 0,
});

/** Calls and stored rows for tests of single pre-alerts. */
export function makePrealertCalls({ api, service }: Fixture) {
  const submit = (body: unknown, key: string = DEMO.apiKeys.IEX) =>
    api.withKey(key).submitPrealert(unchecked(body));

  async function storedPrealert(id: string) {
    const { rows } = await service().owner.query('select * from prealerts where id = $1', [id]);
    return rows[0];
  }

  async function auditOf(id: string) {
    const { rows } = await service().owner.query(
      'select * from audit_entries where entity_id = $1 order by at, id',
      [id],
    );
    return rows;
  }

  return { submit, storedPrealert, auditOf };
}
