import { unchecked } from '../../../support/fixture/sent.js';
import type { Fixture } from '../../../support/fixture/with-service.js';
import { type Call, type Reply } from '../../../support/service/service.js';

export type Row = Record<string, unknown>;

export const fieldsOf = ({ body }: Reply) =>
  ((body['errors'] ?? []) as { field: string; code: string }[]).map(({ field, code }) => `${field} ${code}`);

let serial = 0;
/** Returns a request for a courier with an unused code and username. */
export const fresh = (fields: Row = {}) => ({
  action: 'create',
  courier_code: `N${(serial += 1)}0`,
  courier_name: 'New Courier',
  house_color: '#2B5FA8',
  login: { username: `new-${serial}`, full_name: 'First User' },
  ...fields,
});

/** Calls and stored rows for tests of the administration of couriers. */
export function makeCourierCalls({ api, service }: Fixture) {
  const list = (query: Call['query'] = {}, as = 'admin') => api.as(as).listCouriers(query);
  const manage = (body: unknown, as = 'admin') => api.as(as).manageCouriers(unchecked(body));

  async function rows(statement: string, values: unknown[] = []): Promise<Row[]> {
    return (await service().owner.query<Row>(statement, values)).rows;
  }

  const auditOf = (id: unknown) =>
    rows(
      `select action, entity, actor_kind, actor_id, before, after, request_id from audit_entries
       where entity_id = $1 order by id`,
      [id],
    );

  return { list, manage, rows, auditOf };
}
