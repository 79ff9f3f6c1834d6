import type { Fixture } from '../../../support/fixture/with-service.js';
import { type Call, type Reply } from '../../../support/service/service.js';

type Entry = { action: string; actor_id: string; before: unknown; after: unknown; request_id: string };

export const fieldsOf = ({ body }: Reply) =>
  ((body['errors'] ?? []) as { field: string }[]).map(({ field }) => field);

/** The state of a webhook URL that is not set. */
export const UNTRIED = {
  state: 'none',
  failing_since: null,
  paused_at: null,
  last_success_at: null,
  last_failure_at: null,
  failures: 0,
};

/** A value for every setting that a courier may change. */
export const WHOLE = {
  courier_name: 'Harbour & Co',
  company_name: 'Harbour and Company Ltd',
  email: "o'neil+desk@mail.harbour-couriers.example",
  phone_number1: '+1 246 555 0000',
  phone_number2: '+1 246 555 0001',
  address1: '1 Pier Head',
  address2: 'Étage 2',
  city_town: 'Bridgetown',
  parish_province: 'Saint Michael',
  api_url_get_customers: 'https://api.harbour-couriers.example/customers?format=json',
  api_url_add_package: 'https://api.harbour-couriers.example:8443/packages',
  api_url_update_package: 'https://8.8.8.8/packages',
  api_token: 'tok-EN_1.2~3+4/5==',
  house_color: '#a1B2c3',
};

/** Calls and audit entries for tests of a courier's settings. */
export function makeSettingsCalls({ api, service }: Fixture) {
  const read = (call: Call) => api.with(call).getCourierSettings();
  const update = (call: Call) => api.with(call).updateCourierSettings();
  const updateIex = (body: unknown) => update({ as: 'iex', body });

  async function auditOf(courierId: string): Promise<Entry[]> {
    const { rows } = await service().owner.query<Entry>(
      `select action, actor_id, before, after, request_id from audit_entries
       where entity = 'courier' and entity_id = $1 order by id`,
      [courierId],
    );
    return rows;
  }

  return { read, update, updateIex, auditOf };
}
