import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { fingerprint } from '../../../support/readers/fingerprint.js';
import { withService } from '../../../support/fixture/with-service.js';
import { multipart } from '../../../support/fixture/sent.js';
import { makeUploads, counts, lines, HEADER } from './customer-files.js';

const fixture = withService();
const { api, service } = fixture;
const { customersOf, upload, expectRefused } = makeUploads(fixture);

beforeEach(async () => {
  await service().owner.query(
    "delete from customers where user_code not similar to '(IEX|HRB|TWO)-[0-9]{4}'",
  );
});

describe('stored customers', () => {
  test("creates and updates the courier's customers and skips the header, whatever it contains", async () => {
    const [before] = await customersOf('IEX-1001');
    const reply = await upload(
      'IEX-9999,Not,A Customer\nIEX-1001,New,Name,Elsewhere\nNEW-1,Ann,Lee,Kingston\n',
    ).answer();
    expect(reply).toMatchObject(counts({ processed: 2, created: 1, updated: 1 }));
    expect(reply.message).toBe('Rows processed: 2. Customers created: 1, updated: 1, unchanged: 0.');
    const [changed, created] = await customersOf('IEX-1001', 'NEW-1');
    expect(changed).toEqual({
      ...before,
      first_name: 'New',
      last_name: 'Name',
      branch: 'Elsewhere',
      updated_at: expect.any(Date),
    });
    expect(Number(changed?.updated_at)).toBeGreaterThan(Number(before?.updated_at));
    expect(created).toMatchObject({
      courier_id: DEMO.couriers.IEX,
      first_name: 'Ann',
      last_name: 'Lee',
      branch: 'Kingston',
      email: null,
      is_active: true,
    });
    // A UUIDv7 like all ids.
    expect(created?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(await customersOf('IEX-9999')).toEqual([]);
  });

  test('keeps the email, status and creation time of an existing customer', async () => {
    const [before] = await customersOf('IEX-1200');
    expect(before?.is_active).toBe(false);
    expect(await upload(lines('IEX-1200,Other,Person')).answer()).toMatchObject(
      counts({ processed: 1, updated: 1 }),
    );
    const [after] = await customersOf('IEX-1200');
    for (const column of ['id', 'email', 'is_active', 'created_at', 'branch'] as const)
      expect([column, after?.[column]]).toEqual([column, before?.[column]]);
  });

  test('counts an equal customer as unchanged and does not write it', async () => {
    const file = lines('SAME-1,Ann,Lee,Kingston', 'SAME-2,Ben,Roy,');
    expect(await upload(file).answer()).toMatchObject(counts({ processed: 2, created: 2 }));
    const before = await fingerprint(service().owner);
    expect(await upload(file).answer()).toMatchObject(counts({ processed: 2, unchanged: 2 }));
    expect(await fingerprint(service().owner)).toEqual(before);
  });

  test('clears the branch if blank and keeps it if the column is missing', async () => {
    await upload(lines('BR-1,Ann,Lee,Kingston', 'BR-2,Ann,Lee,Kingston', 'BR-3,Ann,Lee,Kingston')).ok();
    const reply = await upload(lines('BR-1,Ann,Lee,', 'BR-2,Ann,Lee', 'BR-3,Bea,Lee')).answer();
    expect(reply).toMatchObject(counts({ processed: 3, updated: 2, unchanged: 1 }));
    const branches = (await customersOf('BR-1', 'BR-2', 'BR-3')).map(({ branch }) => branch);
    expect(branches).toEqual([null, 'Kingston', 'Kingston']);
  });

  test('uses the whole last row of a repeated user code', async () => {
    const reply = await upload(lines('TWICE,First,Row,Kingston', 'ONCE,A,B', 'TWICE,Last,Row')).answer();
    expect(reply).toMatchObject(counts({ processed: 3, created: 2, repeated: 1 }));
    expect(await customersOf('TWICE')).toMatchObject([
      { first_name: 'Last', last_name: 'Row', branch: null },
    ]);
  });

  test('skips and counts rows with fewer than three columns, but not empty lines', async () => {
    const file = `${HEADER}\n\nSHORT\nSHORT,Two\n,\n\nFULL-1,Ann,Lee\n   \n\n`;
    expect(await upload(file).answer()).toMatchObject(counts({ processed: 1, created: 1, skipped: 4 }));
    expect(await customersOf('SHORT')).toEqual([]);
  });

  test('ignores columns beyond the fourth', async () => {
    const reply = await upload(
      `${HEADER},x\nWIDE-1,Ann,Lee,Kingston,a@b.example,0,"line\nbreak",${'x'.repeat(5000)}\n`,
    ).answer();
    expect(reply).toMatchObject(counts({ processed: 1, created: 1 }));
    expect(await customersOf('WIDE-1')).toMatchObject([{ email: null, is_active: true }]);
  });

  test('trims white space around cells but not inside, and compares codes with case', async () => {
    const reply = await upload(lines(' PAD-1 ,\tMary  Ann , Lee\u00a0,  ', 'pad-1,a,b')).answer();
    expect(reply).toMatchObject(counts({ processed: 2, created: 2 }));
    expect(await customersOf('PAD-1')).toMatchObject([
      { first_name: 'Mary  Ann', last_name: 'Lee', branch: null },
    ]);
    expect(await customersOf('pad-1')).toHaveLength(1);
  });

  test('stores formulas as text', async () => {
    const cells = [
      '=1+1',
      '+1',
      '-1',
      '@SUM(A1)',
      '%00',
      "' or 1=1 --",
      '{{7*7}}',
      '../../etc',
      'null',
      'leave',
      '\\N',
    ];
    const rows = cells.map((cell, n) => `CELL-${n},"${cell}","${cell}","${cell}"`);
    expect(await upload(lines(...rows)).answer()).toMatchObject(
      counts({ processed: cells.length, created: cells.length }),
    );
    const stored = await customersOf(...cells.map((_, n) => `CELL-${n}`));
    const byCode = new Map(stored.map((row) => [row.user_code, row]));
    for (const [n, cell] of cells.entries())
      expect(byCode.get(`CELL-${n}`)).toMatchObject({ first_name: cell, last_name: cell, branch: cell });
  });

  test('stores codes that are names of JavaScript object properties', async () => {
    const codes = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    expect(await upload(lines(...codes.map((code) => `${code},a,b`))).answer()).toMatchObject(
      counts({ processed: 4, created: 4 }),
    );
    expect(await customersOf(...codes)).toHaveLength(4);
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });

  test('accepts 100 characters, counted in code points', async () => {
    const [code, name] = ['c'.repeat(100), '😀'.repeat(100)];
    expect(await upload(lines(`${code},${name},${name},${name}`)).answer()).toMatchObject(
      counts({ processed: 1, created: 1 }),
    );
    expect(await customersOf(code)).toMatchObject([{ first_name: name, last_name: name, branch: name }]);
  });
});

describe('courier of an upload', () => {
  test('staff must name a courier: missing, blank and malformed ids get 400, unknown and foreign ones 404', async () => {
    const file = lines('WHO-1,Ann,Lee');
    await expectRefused(file, ['target_courier_id required'], { as: 'admin' });
    await expectRefused(file, ['target_courier_id required'], { as: 'manager', courier: '' });
    await expectRefused(file, ['target_courier_id invalid'], { as: 'manager', courier: 'IEX' });
    for (const courier of [DEMO.couriers.TWO, '01930a3e-7c1d-7e11-9c5a-00000000ffff']) {
      for (const dryRun of ['false', 'true'])
        await upload(file, { as: 'admin', courier, dryRun }).refused(404, 'courier_not_found');
    }
    for (const [as, courier] of [
      ['admin', DEMO.couriers.HRB],
      ['manager', DEMO.couriers.IEX.toUpperCase()],
    ] as const)
      expect(await upload(file, { as, courier }).answer()).toMatchObject(
        counts({ processed: 1, created: 1 }),
      );
    expect((await customersOf('WHO-1')).map((row) => row.courier_id).sort()).toEqual(
      [DEMO.couriers.HRB, DEMO.couriers.IEX].sort(),
    );
  });

  test('a courier uploads for itself, whatever target_courier_id contains', async () => {
    const targets = [undefined, '', 'nonsense', DEMO.couriers.HRB, DEMO.couriers.TWO];
    for (const [n, courier] of targets.entries()) {
      const reply = await upload(lines(`SELF-${n},Ann,Lee`), {
        ...(courier === undefined ? {} : { courier }),
      }).answer();
      expect(reply).toMatchObject(counts({ processed: 1, created: 1 }));
      expect((await customersOf(`SELF-${n}`)).map((row) => row.courier_id)).toEqual([DEMO.couriers.IEX]);
    }
  });

  test('stores a code of a sibling courier as a separate customer', async () => {
    const [before] = await customersOf('HRB-2001');
    expect(await upload(lines('HRB-2001,Mine,Now')).answer()).toMatchObject(
      counts({ processed: 1, created: 1 }),
    );
    expect((await customersOf('HRB-2001')).find((row) => row.courier_id === DEMO.couriers.HRB)).toEqual(
      before,
    );
  });

  test('denies the warehouse role, anonymous callers, API keys and disabled accounts', async () => {
    const file = lines('NO-1,a,b');
    await upload(file, { as: 'warehouse', courier: DEMO.couriers.IEX }).refused(403, 'permission_denied');
    const form = { file: { file } };
    expect(await api.anonymous.uploadCustomers(multipart(form)).answer()).toMatchObject({ status: 401 });
    expect(await api.withKey(DEMO.apiKeys.IEX).uploadCustomers(multipart(form)).answer()).toMatchObject({
      status: 401,
    });
    expect(await upload(file, { as: 'disabled', courier: DEMO.couriers.IEX }).answer()).toMatchObject({
      status: 403,
    });
    expect(await customersOf('NO-1')).toEqual([]);
  });
});

describe('dry run', () => {
  test('returns the counts of the real upload and writes nothing', async () => {
    await upload(
      lines('DRY-1,Ann,Lee,Kingston', 'DRY-2,Ann,Lee,Kingston', 'DRY-3,Ann,Lee', 'DRY-4,Ann,Lee,Kingston'),
    ).ok();
    const file = lines(
      'DRY-1,Ann,Lee',
      'DRY-2,Ann,Lee,',
      'DRY-3,Ann,Lee,',
      'DRY-4,Bea,Lee',
      'DRY-5,New,One',
      'DRY-5,New,Two',
      'x,y',
    );
    const expected = { processed: 6, created: 1, updated: 2, unchanged: 2, repeated: 1, skipped: 1 };
    const before = await fingerprint(service().owner);
    for (const dryRun of ['true', 'True', '1']) {
      const reply = await upload(file, { dryRun }).answer();
      expect(reply).toMatchObject(counts({ ...expected, dry_run: true }));
      expect(reply.message).toMatch(/^Nothing was stored\. /);
    }
    expect(await fingerprint(service().owner)).toEqual(before);
    expect(await upload(file, { dryRun: '0' }).answer()).toMatchObject(counts(expected));
  });

  test('makes the same checks', async () => {
    await expectRefused(lines(',a,b'), ['2 user_code blank'], { dryRun: 'true' });
    await expectRefused(lines('A,a,b'), ['target_courier_id required'], { dryRun: 'true', as: 'admin' });
    for (const dryRun of ['', 'yes', 'TRUE', '2'])
      await expectRefused(lines('A,a,b'), ['dry_run type'], { dryRun });
  });
});

test('the audit log contains the user, the file and every written customer before and after', async () => {
  await upload(lines('AUD-1,Ann,Lee,Kingston', 'AUD-2,Ben,Roy')).ok();
  const file = lines('AUD-1,Ann,Lee', 'AUD-2,Ben,Ray,Portmore', 'AUD-3,Cy,Fox,');
  const reply = await upload(file, { as: 'manager', courier: DEMO.couriers.IEX }).answer();
  expect(reply).toMatchObject(counts({ processed: 3, created: 1, updated: 1, unchanged: 1 }));
  const requestId = reply.headers.get('x-request-id');
  const { rows } = await service().owner.query(
    `select tenant_id, actor_kind, actor_id, action, entity, entity_id, before, after, remarks
     from audit_entries where request_id = $1`,
    [requestId],
  );
  const columns = ['user_code', 'first_name', 'last_name', 'branch'];
  expect(rows).toEqual([
    {
      tenant_id: DEMO.tenants.demo,
      actor_kind: 'user',
      actor_id: DEMO.users.manager,
      action: 'customers.uploaded',
      entity: 'courier',
      entity_id: DEMO.couriers.IEX,
      before: { columns, updated: [['AUD-2', 'Ben', 'Roy', null]] },
      after: {
        columns,
        part: 1,
        sha256: createHash('sha256').update(file).digest('hex'),
        created: [['AUD-3', 'Cy', 'Fox', null]],
        updated: [['AUD-2', 'Ben', 'Ray', 'Portmore']],
      },
      remarks: 'upload',
    },
  ]);
});
