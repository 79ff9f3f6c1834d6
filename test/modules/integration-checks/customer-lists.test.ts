import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { codesOf, purposesOf, startCheckRig, type CheckRig } from '../../support/checks/check-rig.js';
import { always, answer, html, TOKEN, type Reply } from '../../support/checks/simulator.js';
import { withService } from '../../support/fixture/with-service.js';
import type { Received, Receiver } from '../../support/receivers/receiver.js';

const fixture = withService();
const { db } = fixture;
let rig: CheckRig;

beforeAll(async () => {
  rig = await startCheckRig(fixture);
});
afterAll(() => rig.stop());
beforeEach(async () => {
  rig.receiver.received.length = 0;
  await db.query('delete from customer_sync_runs');
});

type Person = { UserCode: string | null; FirstName: string; LastName: string };
const people = (count: number, from = 1): Person[] =>
  Array.from({ length: count }, (_, n) => ({ UserCode: `C-${from + n}`, FirstName: 'Ann', LastName: 'Lee' }));

/** A system that wants the token, and answers with a list. */
const listing =
  (list: (request: Received) => Reply['body']): Receiver['answer'] =>
  (request, response) => {
    const isKnown = request.headers['authorization'] === `Bearer ${TOKEN}`;
    answer(response, isKnown ? { status: 200, body: list(request) } : { status: 401 });
  };
const withList = (body: Reply['body']) => listing(() => body);

async function checkOf(answers: Receiver['answer']) {
  rig.receiver.answer = answers;
  await rig.setCustomersUrl();
  return rig.check('get_customers');
}

const pageOf = ({ path }: Received) => Number(new URL(path, 'http://x').searchParams.get('page') ?? 1);

describe('a planted fault of the list has its name, and no other', () => {
  test.each<[title: string, codes: string[], answers: Receiver['answer']]>([
    ['no array', ['not_a_list'], withList({ customer: 'C-1' })],
    ['a page', ['html_instead_of_list'], listing(() => html(200).body)],
    ['other bytes than UTF-8', ['not_utf8'], withList(Buffer.from('[{"UserCode":"C-\xe9"}]', 'latin1'))],
    ['compressed bytes', ['compressed'], withList(Buffer.from([0x1f, 0x8b, 8, 0]))],
    ['half of a JSON', ['not_json'], withList('[{"UserCode": "C-1"')],
    ['an empty list', ['empty_list'], withList([])],
    ['a blank code', ['blank_codes'], withList([...people(3), { ...people(1)[0], UserCode: ' ' }])],
    ['no code', ['blank_codes'], withList([...people(3), { FirstName: 'Ann', LastName: 'Lee' }])],
    ['a code twice', ['duplicate_codes'], withList([...people(3), ...people(1)])],
    ['a number as a name', ['records_skipped'], withList([...people(3), { UserCode: 'C-9', FirstName: 7 }])],
    [
      'a first page of a round number, which the second page shows',
      ['pagination_cut'],
      listing((request) => people(100, 100 * pageOf(request))),
    ],
    [
      'a first page, which the object around it shows',
      ['wrapped_list', 'pagination_cut'],
      withList({ data: people(7), meta: { total: 30, per_page: 7 } }),
    ],
    ['401 to the right token', ['token_refused'], always({ status: 401 })],
    ['404 with a page', ['wrong_path'], always(html(404))],
    ['500', ['server_error'], always({ status: 500 })],
    ['a list for everybody', ['no_authentication'], always({ status: 200, body: people(3) })],
  ])('%s: %j', async (_title, codes, answers) => {
    expect(codesOf(await checkOf(answers))).toEqual(codes);
  });

  test('a list that is shorter by more than a fifth is named, and one that is not is healthy', async () => {
    await db.query(
      `insert into customer_sync_runs (tenant_id, id, courier_id, origin, status, received, finished_at)
       values ($1, new_id(), $2, 'schedule', 'succeeded', 11, now())`,
      [DEMO.tenants.demo, DEMO.couriers.IEX],
    );
    const fewer = await checkOf(withList(people(8)));
    expect([codesOf(fewer), fewer.findings[0]?.evidence.detail]).toEqual([
      ['fewer_customers'],
      '11 before, 8 now',
    ]);
    expect(codesOf(await checkOf(withList(people(9))))).toEqual([]);
  });

  test('a token in the query is named as the place', async () => {
    const check = await checkOf((request, response) => {
      const isRight = new URL(request.path, 'http://x').searchParams.get('id') === TOKEN;
      answer(response, isRight ? { status: 200, body: people(3) } : { status: 403 });
    });
    expect(check.findings).toMatchObject([{ code: 'token_place', evidence: { detail: 'query id' } }]);
  });
});

describe('a healthy list', () => {
  test.each<[title: string, codes: string[], answers: Receiver['answer']]>([
    ['an array', [], withList(people(7))],
    ['a round number without pages', [], withList(people(100))],
    ['a wrapped array', ['wrapped_list'], withList({ customers: people(7), total: 7, next: null })],
    [
      'an address that answers only to POST',
      [],
      (request, response) =>
        request.body === '' ? answer(response, { status: 405 }) : withList(people(7))(request, response),
    ],
  ])('%s: %j', async (_title, codes, answers) => {
    const check = await checkOf(answers);
    expect([codesOf(check), check.verdict]).toEqual([codes, 'healthy']);
  });

  test('is stored nowhere, and no name of it is kept as evidence', async () => {
    const before = await db.count('customers');
    const check = await checkOf(always({ status: 200, body: people(3) }));
    expect(await db.count('customers')).toBe(before);
    expect(check.findings).toMatchObject([{ code: 'no_authentication', evidence: { response_start: null } }]);
    expect(JSON.stringify(check)).not.toContain('Lee');
    expect(purposesOf(check)).toEqual(['customers', 'wrong_token']);
    expect(rig.receiver.received.map(({ headers }) => headers['x-crossdock-test'])).toEqual(['true', 'true']);
  });
});
