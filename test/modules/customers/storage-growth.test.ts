import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { deleteExpired } from '../../../src/jobs/retention.js';
import { rounds } from '../../support/harness/effort.js';
import { fingerprint } from '../../support/readers/fingerprint.js';
import { startSyncRig } from '../../support/builders/customer-sync.js';
import { untilAdmitted, type Reply } from '../../support/service/service.js';
import type { Api } from '../../support/fixture/api.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked, multipart } from '../../support/fixture/sent.js';

const MIB = 1024 * 1024;
const { IEX, HRB } = DEMO.couriers;
const HEADER = 'user_code,first_name,last_name,branch\n';

/** Returns pseudo-random letters. Each `n` gives a different word, the same in every run. */
function word(n: number, length: number): string {
  let seed = n * 2_654_435_761 + 12_345;
  let text = '';
  while (text.length < length) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    text += String.fromCharCode(97 + ((seed >>> 16) % 26));
  }
  return text;
}

/** The dictionary has room for so many words of a courier. */
const DICTIONARY = 20_000;
/** Words that the dictionary contains before, without search keys, so that one file fills the rest of it. */
const WORDS_BEFORE = rounds(18_000, 0);
const FILE_KIB = rounds(46, 1024);

/** Returns a file of this size in which no two names share a word. */
function fileOfDistinctWords(from: number, rowOf: (n: number) => string): { file: string; rows: number } {
  const lines = [HEADER];
  for (let size = 0; size < FILE_KIB * 1024; size += lines.at(-1)?.length ?? 0)
    lines.push(`${rowOf(from + lines.length)}\n`);
  return { file: lines.join(''), rows: lines.length - 1 };
}

const upload = (api: Api, file: string, as = 'iex', courier?: string) =>
  api
    .as(as)
    .uploadCustomers(multipart({ file: { file }, ...(courier ? { target_courier_id: courier } : {}) }));

const UPLOADS = rounds(1, 3);
const [TOTAL_MIB, AUDIT_AND_DICTIONARY_MIB] = [rounds(7, 190), rounds(3.5, 40)];

describe(`${UPLOADS} uploads of ${FILE_KIB} KiB with distinct words`, () => {
  const { api, service } = withService();

  async function mebibytes(expression: string): Promise<number> {
    const { rows } = await service().owner.query<{ bytes: string }>(
      `select (${expression})::bigint as bytes`,
    );
    return Number(rows[0]?.bytes) / MIB;
  }

  const termsOf = async (scope: string): Promise<number> => {
    const { rows } = await service().owner.query<{ count: number }>(
      'select count(*)::int as count from customer_terms where scope_id = $1',
      [scope],
    );
    return rows[0]?.count ?? 0;
  };

  const find = async (q: string, as = 'iex'): Promise<string[]> => {
    const { data } = await api
      .as(as)
      .searchCustomers(unchecked({ q, advanced: 1 }))
      .answer();
    return data.map((row: { user_code: string }) => row.user_code);
  };

  test(`grow the database by less than ${TOTAL_MIB} MiB, of which audit log and dictionary are less than ${AUDIT_AND_DICTIONARY_MIB}`, async () => {
    const terms = [await termsOf(IEX), await termsOf(DEMO.tenants.demo)];
    await service().owner.query(
      `insert into customer_terms (tenant_id, id, scope_id, term, keys)
       select $1, new_id(), $2, 'before-' || n, '{}' from generate_series(1, $3) n`,
      [DEMO.tenants.demo, IEX, WORDS_BEFORE],
    );
    const auditAndDictionary = `pg_total_relation_size('customer_terms') + pg_total_relation_size('audit_entries')
      + pg_total_relation_size('audit_unsealed')`;
    const before = [
      await mebibytes('pg_database_size(current_database())'),
      await mebibytes(auditAndDictionary),
    ];
    let stored = 0;
    for (let n = 0; n < UPLOADS; n += 1) {
      const { file, rows } = fileOfDistinctWords(
        stored,
        (i) => `ATT-${i},${word(2 * i, 14)},${word(2 * i + 1, 14)},`,
      );
      const reply = await upload(api, file).answer();
      expect([reply.status, reply.data.created]).toEqual([200, rows]);
      stored += rows;
    }
    expect(stored).toBeGreaterThan(22 * FILE_KIB * UPLOADS);
    const after = [
      await mebibytes('pg_database_size(current_database())'),
      await mebibytes(auditAndDictionary),
    ];
    const grown = after.map((size, n) => size - (before[n] ?? 0));
    process.stdout.write(
      `The database grew by ${grown.map((size) => size.toFixed(1)).join(' MiB, audit log and dictionary by ')} MiB\n`,
    );
    // 1.7 KB for each of the 25 customers per KiB of a file, who have 13 indexes, and the words of one dictionary.
    expect(grown[0]).toBeLessThan(TOTAL_MIB);
    expect(grown[1]).toBeLessThan(AUDIT_AND_DICTIONARY_MIB);

    // Only this courier's dictionary is full. Customers whose words it lacks are found by their exact name.
    expect(await termsOf(IEX)).toBe(DICTIONARY);
    expect((await termsOf(DEMO.tenants.demo)) - (terms[1] ?? 0)).toBeLessThanOrEqual(
      DICTIONARY - WORDS_BEFORE,
    );
    const last = stored;
    for (const as of ['iex', 'admin'])
      expect((await find(`${word(2 * last + 1, 14)} ${word(2 * last, 14)}`, as))[0]).toBe(`ATT-${last}`);
    const other = { user_code: 'HRB-NEW', first_name: 'Philomena', last_name: 'Wetherbourne' };
    await api.as('hrb').createCustomer(other).ok();
    expect(await find('Filomena Weatherborne', 'hrb')).toEqual(['HRB-NEW']);

    await service().owner.query("delete from customers where user_code like 'ATT-%'");
    await deleteExpired({ db: service().db, stopping: new AbortController().signal });
    // Words of other customers that arrived while the dictionary was full would be missing. There are none here.
    expect(await termsOf(IEX)).toBeLessThanOrEqual(terms[0] ?? 0);
    await service().owner.query('vacuum customer_terms');
    expect(await find('Filomena Weatherborne', 'hrb')).toEqual(['HRB-NEW']);
  }, 240_000);

  test('index the three longest words of names with six words', async () => {
    const before = await mebibytes("pg_relation_size('customers_term_keys')");
    const six = (n: number) => Array.from({ length: 6 }, (_, part) => word(6 * n + part, 3)).join(' ');
    const count = rounds(500, 2_000);
    const lines = Array.from({ length: count }, (_, n) => `SIX-${n},${six(2 * n)},${six(2 * n + 1)}\n`);
    expect((await upload(api, HEADER + lines.join('')).answer()).status).toBe(200);
    // 72 keys per customer. An earlier version had 210.
    expect((await mebibytes("pg_relation_size('customers_term_keys')")) - before).toBeLessThan(count / 200);
  }, 60_000);

  test('the audit log records the user, the file and every written value, 500 customers per entry', async () => {
    const rows = Array.from(
      { length: 1_200 },
      (_, n) => `AUD-${String(n).padStart(4, '0')},Ann,Lee,Kingston`,
    );
    const created = await upload(api, HEADER + rows.join('\n'), 'manager', IEX).answer();
    const entriesOf = async (reply: Reply) => {
      const request_id = reply.headers.get('x-request-id') ?? '';
      return (await api.as('admin').listAuditEntries({ request_id }).ok()).data;
    };
    const entries = await entriesOf(created);
    expect(entries).toHaveLength(3);
    for (const entry of entries)
      expect(entry).toMatchObject({
        action: 'customers.uploaded',
        entity: 'courier',
        entity_id: IEX,
        remarks: 'upload',
      });
    const codes = entries.flatMap(({ after }) =>
      (after as { created: string[][] }).created.map(([code]) => code),
    );
    expect(codes.sort()).toEqual(rows.map((row) => row.split(',')[0]));
    expect(new Set(entries.map(({ after }) => after?.['sha256'])).size).toBe(1);
    const [update] = await entriesOf(await upload(api, `${HEADER}AUD-0007,Ann,Roy,`).answer());
    expect(update?.before).toEqual({
      columns: ['user_code', 'first_name', 'last_name', 'branch'],
      updated: [['AUD-0007', 'Ann', 'Lee', 'Kingston']],
    });
    expect(update?.after).toMatchObject({
      part: 1,
      created: [],
      updated: [['AUD-0007', 'Ann', 'Roy', null]],
    });
  });
});

describe('daily limit of customer changes per courier', () => {
  const { api, service } = withService(() => ({
    env: { CUSTOMER_CHANGES_PER_DAY: String(LIMIT) },
    // A busy machine cannot open many connections within the two seconds after which a request is refused.
    poolSize: 12,
  }));
  const LIMIT = rounds(60, 150);
  const PART = LIMIT - 20;

  let sent = 0;
  const create = (as: string, more = {}) =>
    api
      .as(as)
      .createCustomer({ user_code: `DAY-${(sent += 1)}`, first_name: 'Ann', last_name: 'Lee', ...more });

  let resetMs = 0;
  async function resetQuotas(): Promise<void> {
    await service().owner.query('delete from courier_quotas');
    resetMs = Date.now();
  }

  /** The reply says when the quota ends, seen from any time since the reset. */
  function expectExceeded(reply: Reply): void {
    expect([reply.status, reply.body['code']]).toEqual([429, 'quota_exceeded']);
    const retryAfterMs = Number(reply.headers.get('retry-after')) * 1_000;
    const midnight = new Date(resetMs);
    midnight.setUTCHours(24, 0, 0, 0);
    expect(midnight.getTime() - retryAfterMs).toBeGreaterThan(resetMs - 10_000);
    expect(midnight.getTime() - retryAfterMs).toBeLessThan(Date.now() + 10_000);
  }

  test(`admits exactly the limit of ${LIMIT + 50} concurrent callers`, async () => {
    await resetQuotas();
    const replies = await Promise.all(
      Array.from({ length: LIMIT + 50 }, (_, n) =>
        untilAdmitted(() => (n % 2 ? create('iex') : create('manager', { courier_id: IEX })).answer()),
      ),
    );
    const done = replies.filter(({ status }) => status === 200);
    expect(done).toHaveLength(LIMIT);
    for (const reply of replies.filter(({ status }) => status !== 200)) expectExceeded(reply);
    const { rows } = await service().owner.query(
      "select used from courier_quotas where kind = 'customer_changes'",
    );
    expect(rows).toEqual([{ used: LIMIT }]);

    // Any of them: the first caller may be among the refused ones.
    const id = done[0]?.data.id ?? '';
    const stored = await service().owner.query<{ code: string }>(
      'select user_code as code from customers where id = $1',
      [id],
    );
    const code = stored.rows[0]?.code ?? '';
    const before = await fingerprint(service().owner);
    expectExceeded(await api.as('iex').updateCustomer({ courier_customer_id: id, first_name: 'B' }).answer());
    expectExceeded(await api.as('admin').deleteCustomer(undefined, { query: { id } }).answer());
    expectExceeded(await upload(api, `${HEADER}${code},Ann,Roy`, 'manager', IEX).answer());
    expect(await fingerprint(service().owner)).toEqual(before);
    // Requests that change nothing still succeed, and so do requests of a sibling courier.
    const same = { courier_customer_id: id, first_name: 'Ann' };
    await api.as('iex').updateCustomer(same).ok();
    expect((await upload(api, `${HEADER}${code},Ann,Lee`).answer()).data.unchanged).toBe(1);
    await create('hrb').ok();
    await create('admin', { courier_id: HRB }).ok();

    // The next day.
    await service().owner.query("update courier_quotas set period_start = period_start - interval '1 day'");
    await create('iex').ok();
  }, 60_000);

  test('counts uploaded customers, and an upload is stored or rejected as a whole', async () => {
    await resetQuotas();
    const rows = (from: number, to: number) =>
      HEADER + Array.from({ length: to - from }, (_, n) => `UP-${from + n},Ann,Lee\n`).join('');
    expect((await upload(api, rows(0, PART)).answer()).data.created).toBe(PART);
    const before = await fingerprint(service().owner);
    expectExceeded(await upload(api, rows(20, LIMIT + 1)).answer());
    expect(await fingerprint(service().owner)).toEqual(before);
    // The first rows are already stored.
    expect((await upload(api, rows(0, LIMIT)).answer()).data.created).toBe(LIMIT - PART);
    expectExceeded(await create('iex').answer());
  });

  test('counts synchronised customers, and a run beyond the limit fails with the reason', async () => {
    await resetQuotas();
    const rig = await startSyncRig(service(), LIMIT);
    try {
      const list = (count: number) =>
        Array.from({ length: count }, (_, n) => ({
          user_code: `SYN-${n}`,
          first_name: 'Ann',
          last_name: 'Lee',
        }));
      expect(await rig.sync(list(PART))).toMatchObject({ status: 'succeeded', created: PART });
      expect(await rig.sync(list(LIMIT + 1))).toMatchObject({
        status: 'failed',
        error: expect.stringContaining(`the daily limit of ${LIMIT} changed customers`),
      });
      expect(await rig.sync(list(LIMIT))).toMatchObject({
        status: 'succeeded',
        created: LIMIT - PART,
        unchanged: PART,
      });
      expectExceeded(await create('iex').answer());
    } finally {
      await rig.stop();
    }
  });
});
