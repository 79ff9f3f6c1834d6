import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { startSyncRig, type SyncRig } from '../../../support/builders/customer-sync.js';
import { assignedLater } from '../../../support/fixture/assigned-later.js';
import { withService } from '../../../support/fixture/with-service.js';
import { emptyQueue } from '../../../support/receivers/outbound.js';
import { type Call } from '../../../support/service/service.js';

type Customer = {
  id: string;
  courier_id: string;
  user_code: string;
  first_name: string;
  last_name: string;
  branch: string | null;
  email: string | null;
  is_active: boolean;
  updated_at: Date;
};

type Audit = {
  action: string;
  entity: string;
  entity_id: string;
  before: object;
  after: object;
  [key: string]: unknown;
};

/** A service and a courier's system to read customers from. Each test starts with the customers of the demo data. */
export function withCustomerSync() {
  const fixture = withService();
  const { api, service } = fixture;
  const [rig, setRig] = assignedLater<SyncRig>('sync rig');
  beforeAll(async () => {
    setRig(await startSyncRig(service()));
  }, 60_000);
  afterAll(() => rig.stop());

  beforeEach(() => rig.reset());

  afterEach(async () => {
    await service().owner.query('delete from customer_sync_runs');
    await service().owner.query(
      "delete from customers where user_code not similar to '(IEX|HRB|TWO)-[0-9]{4}'",
    );
    await emptyQueue(service().owner);
  });

  const requestSync = (call: Call = {}) => api.with({ as: 'iex', ...call }).syncCustomers();

  async function customersOf(courierId: string): Promise<Customer[]> {
    const { rows } = await service().owner.query<Customer>(
      'select * from customers where courier_id = $1 order by user_code',
      [courierId],
    );
    return rows;
  }

  async function customer(
    code: string,
    courierId: string = DEMO.couriers.IEX,
  ): Promise<Customer | undefined> {
    const { rows } = await service().owner.query<Customer>(
      'select * from customers where courier_id = $1 and user_code = $2',
      [courierId, code],
    );
    return rows[0];
  }

  async function auditsOf(requestId: string): Promise<Audit[]> {
    const { rows } = await service().owner.query<Audit>(
      'select * from audit_entries where request_id = $1 order by action, id',
      [requestId],
    );
    return rows;
  }

  return { ...fixture, rig, requestSync, customersOf, customer, auditsOf };
}
