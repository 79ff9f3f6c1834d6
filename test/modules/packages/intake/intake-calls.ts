import { expect } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { trackingKey } from '../../../../src/modules/tracking-numbers/tracking-key.js';
import { eventsOf } from '../../../support/receivers/outbound.js';
import { type Reply } from '../../../support/service/service.js';
import { unchecked } from '../../../support/fixture/sent.js';
import type { Fixture } from '../../../support/fixture/with-service.js';

const { IEX } = DEMO.couriers;

export const UNKNOWN_ID = '01930a3e-7c1d-7e11-9c5a-000000000000';

let scans = 0;

export const newNumber = () => `1Z${String((scans += 1)).padStart(16, '0')}`;

type PrealertFields = {
  courier?: string;
  code: string;
  number: string;
  vendor?: string;
  description?: string;
  status?: string;
};

export function expectReceipt(reply: Reply, fields: object) {
  expect(reply.body).toMatchObject({
    status: 'success',
    data: { status: 'received', duplicate: false, ...fields },
  });
  expect(reply.status).toBe(201);
}

export function expectError(reply: Reply, status: number, code: string, field?: string) {
  expect(reply.body).toMatchObject({ code });
  expect(reply.status).toBe(status);
  if (field) expect(reply.body.errors.map((error: { field: string }) => error.field)).toContain(field);
}

/** Calls and stored rows for tests of receiving packages. */
export function makeIntake({ api, service }: Fixture) {
  const receive = (body: object, as = 'warehouse') =>
    api.as(as).receivePackage(unchecked({ weight: 1, ...body }));

  async function rows(statement: string, values: unknown[] = []) {
    return (await service().owner.query(statement, values)).rows;
  }

  const packageRow = async (id: string) => (await rows('select * from packages where id = $1', [id]))[0];
  const statusOf = async (id: string) =>
    (await rows('select status from prealerts where id = $1', [id]))[0].status;
  const webhookEventsOf = (id: string) => eventsOf(service().owner, [id]);
  const auditOf = (id: string) =>
    rows(
      'select action, actor_kind, actor_id, before, after, request_id from audit_entries where entity_id = $1',
      [id],
    );

  async function announce({
    courier = IEX,
    code,
    number,
    vendor,
    description,
    status = 'pending',
  }: PrealertFields) {
    const id = randomUUID();
    await rows(
      `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, vendor, description, status)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [DEMO.tenants.demo, id, courier, code, number, trackingKey(number), vendor, description, status],
    );
    return id;
  }

  async function addCustomer(courier: string, code: string, isActive = true) {
    await rows(
      `insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name, is_active)
     values ($1, $2, $3, $4, 'Ada', 'Twin', $5)`,
      [DEMO.tenants.demo, randomUUID(), courier, code, isActive],
    );
  }

  return { receive, rows, packageRow, statusOf, webhookEventsOf, auditOf, announce, addCustomer };
}
