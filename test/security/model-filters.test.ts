import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PrismaPg } from '@prisma/adapter-pg';
import { Prisma, PrismaClient } from '../../generated/prisma/client.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import {
  courierField,
  fieldsOf,
  tenantField,
  type ModelScope,
} from '../../src/platform/db/models/model-scope.js';
import type { Models } from '../../src/platform/db/models/types.js';
import { newId } from '../../src/platform/values/ids.js';
import { makeCouriers } from '../support/builders/couriers.js';
import { startService, type Service } from '../support/service/service.js';

// Tests only the filters of Prisma's models. The connection is a superuser's, which bypasses row-level security.

const { demo, two } = DEMO.tenants;
const { IEX, HRB } = DEMO.couriers;
const ofTenant: ModelScope = { tenantId: two, courierId: null };
const ofCourier: ModelScope = { tenantId: demo, courierId: IEX };

const MODELS = Object.keys(Prisma.ModelName);
const SHARED = [
  'Tenant',
  'TenantHost',
  'Carrier',
  'Airline',
  'Warehouse',
  'SecuritySettings',
  'TenantSettings',
];
const READ_ONLY = ['Tenant', 'TenantHost'];

let service: Service;
/** Prisma's models without our filters. */
let unfiltered: PrismaClient;

beforeAll(async () => {
  service = await startService({ rowSecurity: false });
  unfiltered = new PrismaClient({ adapter: new PrismaPg(service.db.pool) });
  await makeCouriers(service.owner);
});

afterAll(async () => {
  await unfiltered.$disconnect();
  await service.stop();
});

const leased = new Map<string, Models>();

/** Returns the models of a scope. Each statement is a transaction of its own. */
function modelsOf(scope: ModelScope): Models {
  const { db } = service;
  const name = JSON.stringify([scope, db.applicationFilters]);
  const known = leased.get(name);
  if (known) return known;
  const { models } = db.models.lease({
    applicationFilters: db.applicationFilters,
    scope: () => scope,
    admit: () => Promise.resolve(),
    send: (query) => db.pool.query({ ...query, rowMode: 'array' }),
  });
  leased.set(name, models);
  return models;
}

type Args = Record<string, unknown>;
type Delegate = Record<string, (args: Args) => Promise<unknown>>;

/** One model of a client, by its name, without its own types. */
const delegateOf = (client: object, model: string): Delegate =>
  // Every model has the same operations.
  Reflect.get(client, model.charAt(0).toLowerCase() + model.slice(1)) as Delegate;

const call = (client: object, model: string, operation: string, args: Args): Promise<unknown> =>
  delegateOf(client, model)[operation]?.(args) ?? Promise.reject(new Error(`${model}.${operation}?`));

/** Returns the number of rows without the filters. */
const countAll = (model: string, where: Args) => call(unfiltered, model, 'count', { where });

/** Asserts that reads whose `field` names another owner find no rows. */
async function expectHidden(client: object, model: string, field: string, owner: string) {
  const where = { [field]: owner };
  const rows = { first: null, many: [], count: 0, groups: [], sum: { _count: 0 } };
  expect({
    first: await call(client, model, 'findFirst', { where }),
    many: await call(client, model, 'findMany', { where }),
    count: await call(client, model, 'count', { where }),
    groups: await call(client, model, 'groupBy', { by: [field], where }),
    sum: await call(client, model, 'aggregate', { where, _count: true }),
  }).toEqual(rows);
  const missing = call(client, model, 'findFirstOrThrow', { where });
  await expect(missing).rejects.toMatchObject({ code: 'P2025' });
}

async function expectUnchanged(client: object, model: string, field: string, owner: string, own: string) {
  const where = { [field]: owner };
  const before = await countAll(model, where);
  for (const [operation, args] of [
    ['updateMany', { where, data: { [field]: own } }],
    ['deleteMany', { where }],
  ] as const) {
    // Triggers of some tables reject every change, even of no rows.
    const outcome = await call(client, model, operation, args).catch((error: unknown) => String(error));
    if (typeof outcome === 'string') expect(outcome).toMatch(/append-only|is append only|cannot be written/i);
    else expect({ model, operation, outcome }).toEqual({ model, operation, outcome: { count: 0 } });
  }
  expect(await countAll(model, where)).toBe(before);
}

describe.each(MODELS)('%s', (model) => {
  const field = tenantField(model);

  test('shows a tenant its own rows only, and counts no others', async () => {
    const client = modelsOf(ofTenant);
    const own = await countAll(model, { [field]: two });
    expect(await call(client, model, 'count', {})).toBe(own);
    // findMany returns an array of rows.
    const rows = (await call(client, model, 'findMany', {})) as Args[];
    expect(rows).toHaveLength(Number(own));
    expect(rows.filter((row) => row[field] !== two)).toEqual([]);
    await expectHidden(client, model, field, demo);
  });

  test('lets a tenant change and delete no rows of another', async () => {
    await expectUnchanged(modelsOf(ofTenant), model, field, demo, two);
  });

  test('shows a courier its own rows only, or refuses couriers', async () => {
    const client = modelsOf(ofCourier);
    const name = courierField(model);
    if (!name && SHARED.includes(model)) return expectHidden(client, model, field, two);
    if (!name)
      return expect(call(client, model, 'findMany', {})).rejects.toThrow('not available to couriers');
    // findMany returns an array of rows.
    const rows = (await call(client, model, 'findMany', {})) as Args[];
    const owners = new Set(rows.map((row) => row[name]));
    const allowed: unknown[] = model === 'RateTier' ? [IEX, null] : [IEX];
    expect([...owners].filter((owner) => !allowed.includes(owner))).toEqual([]);
    await expectHidden(client, model, name, HRB);
  });

  test('lets a courier change and delete no rows of a sibling', async () => {
    const client = modelsOf(ofCourier);
    const name = courierField(model);
    if (name) return expectUnchanged(client, model, name, HRB, IEX);
    for (const operation of ['updateMany', 'deleteMany'])
      await expect(call(client, model, operation, { data: {}, where: {} })).rejects.toThrow(
        /not available to couriers|cannot be written/,
      );
  });

  test('accepts no row for another tenant', async () => {
    const client = modelsOf(ofTenant);
    const refusal = READ_ONLY.includes(model) ? 'cannot be written' : "is not the caller's";
    for (const operation of ['create', 'createMany', 'createManyAndReturn']) {
      const data = operation === 'create' ? { [field]: demo } : [{ [field]: two }, { [field]: demo }];
      await expect(call(client, model, operation, { data })).rejects.toThrow(refusal);
    }
  });
});

test('there are rows of other tenants and couriers', async () => {
  const withRows = async (field: (model: string) => string | undefined, owner: string) => {
    const counts = await Promise.all(
      MODELS.map(async (model) => {
        const name = field(model);
        return name && Number(await countAll(model, { [name]: owner })) > 0 ? [model] : [];
      }),
    );
    return counts.flat();
  };
  expect((await withRows(tenantField, demo)).length).toBeGreaterThan(20);
  expect((await withRows(courierField, HRB)).length).toBeGreaterThan(10);
  expect(MODELS.filter((model) => fieldsOf(model).size === 0)).toEqual([]);
});

describe('one record by its key', () => {
  async function foreignCustomer(): Promise<{ tenantId: string; id: string }> {
    const where = { tenantId: demo, courierId: HRB };
    return unfiltered.customer.findFirstOrThrow({ where, select: { tenantId: true, id: true } });
  }

  test.each([
    ['a courier', ofCourier],
    ['another tenant', ofTenant],
  ])('is neither found, changed, replaced nor deleted by %s', async (_who, scope) => {
    const { customer } = modelsOf(scope);
    const key = await foreignCustomer();
    const where = { tenantId_id: key };
    const before = await unfiltered.customer.findUnique({ where });
    const notFound = { code: 'P2025' };
    expect(await customer.findUnique({ where })).toBeNull();
    await expect(customer.findUniqueOrThrow({ where })).rejects.toMatchObject(notFound);
    await expect(customer.update({ where, data: { firstName: 'X' } })).rejects.toMatchObject(notFound);
    await expect(customer.delete({ where })).rejects.toMatchObject(notFound);
    const courierId = scope.courierId ?? DEMO.couriers.TWO;
    const names = { userCode: newId(), firstName: 'X', lastName: 'X' };
    const create = { tenantId: scope.tenantId, id: key.id, courierId, ...names };
    // The row is invisible, so upsert inserts a new one or violates the primary key.
    const upserted = await customer
      .upsert({ where, create, update: { firstName: 'X' } })
      .catch(() => undefined);
    expect(upserted?.tenantId ?? scope.tenantId).toBe(scope.tenantId);
    expect(await unfiltered.customer.findUnique({ where })).toEqual(before);
  });

  test('cannot be given to a sibling or another tenant', async () => {
    const { customer } = modelsOf(ofCourier);
    for (const data of [{ courierId: HRB }, { tenantId: two }, { courierId: { set: HRB } }])
      await expect(customer.updateMany({ where: {}, data })).rejects.toThrow("is not the caller's");
  });

  test('created by a courier belongs to it', async () => {
    const { customer } = modelsOf(ofCourier);
    const names = { userCode: newId(), firstName: 'A', lastName: 'B' };
    const data = { tenantId: demo, courierId: IEX, id: newId(), ...names };
    await expect(customer.create({ data: { ...data, courierId: HRB } })).rejects.toThrow('courierId');
    expect(await customer.create({ data })).toMatchObject({ tenantId: demo, courierId: IEX });
    await unfiltered.customer.deleteMany({ where: { id: data.id } });
  });
});

test('calls that reach another table, or a row without its filter, are rejected', async () => {
  const { carrier } = modelsOf({ tenantId: demo, courierId: null });
  const refused = (work: Promise<unknown>) => expect(work).rejects.toThrow('Write SQL');
  const other = { packages: { some: {} } };
  await refused(carrier.findMany({ include: { packages: true } }));
  await refused(carrier.findMany({ select: { packages: true } }));
  await refused(carrier.findMany({ select: { _count: true } }));
  await refused(carrier.findMany({ where: other }));
  await refused(carrier.findMany({ where: { OR: [{ name: 'x' }, { NOT: other }] } }));
  await refused(carrier.findMany({ orderBy: { packages: { _count: 'asc' } } }));
  await refused(carrier.findMany({ cursor: { tenantId_id: { tenantId: two, id: newId() } } }));
  const nested = { id: newId(), name: 'x', tenant: { connect: { id: two } } };
  await refused(carrier.create({ data: nested }));
  const key = { tenantId_id: { tenantId: demo, id: newId() } };
  await refused(carrier.update({ where: key, data: { packages: { deleteMany: {} } } }));
  const create = { tenantId: demo, id: newId(), name: 'x' };
  await refused(carrier.upsert({ where: key, create, update: { packages: { deleteMany: {} } } }));
  await refused(Promise.resolve(carrier.findUnique({ where: key }).packages()));
});

test("a caller's condition cannot widen the filter", async () => {
  const { carrier } = modelsOf(ofTenant);
  const own = await unfiltered.carrier.count({ where: { tenantId: two } });
  for (const where of [
    { OR: [{ tenantId: two }, { tenantId: demo }] },
    { AND: [{ tenantId: { in: [demo, two] } }] },
    { NOT: { id: newId() } },
  ])
    expect(await carrier.count({ where })).toBe(own);
});

test('the filters can be turned off, so that row-level security can be tested alone', async () => {
  service.db.applicationFilters = false;
  try {
    const all = await unfiltered.carrier.count();
    expect(await modelsOf(ofTenant).carrier.count()).toBe(all);
  } finally {
    service.db.applicationFilters = true;
  }
  expect(await modelsOf(ofTenant).carrier.count()).toBeLessThan(await unfiltered.carrier.count());
});
