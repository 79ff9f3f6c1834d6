import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { withService } from '../../support/fixture/with-service.js';
import { codesOf, purposesOf, startCheckRig, type CheckRig } from '../../support/checks/check-rig.js';
import {
  always,
  answer,
  html,
  simulate,
  TOKEN,
  type Reply,
  type Simulated,
} from '../../support/checks/simulator.js';
import type { Endpoints } from '../../support/receivers/webhooks.js';
import type { Receiver } from '../../support/receivers/receiver.js';

const fixture = withService();
let rig: CheckRig;
beforeAll(async () => {
  rig = await startCheckRig(fixture);
});
afterAll(() => rig.stop());
beforeEach(() => {
  rig.receiver.received.length = 0;
});

const flat = { addFormat: 'flat' } as const;
const flatArray = { addFormat: 'flat_array' } as const;

async function checkOf(answers: Receiver['answer'], options: Partial<Endpoints> = {}, path = '/hook') {
  rig.receiver.answer = answers;
  await rig.setUrl(`${rig.receiver.url}${path}`, options);
  return rig.check();
}

const redirectTo = (location: string): Reply => ({ status: 302, headers: { location } });
const echoing = (values: (weight: number, at: Date) => object): Simulated => ({
  first: (content) => {
    const at = new Date(String(content['EntryDateTime']).replace(/\d{4}\+/, '+'));
    return { status: 200, body: { ok: true, package: values(Number(content['Weight']), at) } };
  },
});

describe('a planted fault has its name, and no other', () => {
  test.each<[title: string, code: string, answers: Receiver['answer'], options?: Partial<Endpoints>]>([
    ['a redirect to https', 'redirect_to_https', always(redirectTo('https://127.0.0.1/hook'))],
    ['a redirect to www', 'redirect_to_other_host', always(redirectTo('https://www.courier.example/hook'))],
    ['a redirect to a login page', 'redirect_to_login', always(redirectTo('/login?next=%2Fhook'))],
    ['a redirect to a path with a slash', 'redirect', always(redirectTo('/hook/'))],
    ['403 whatever the token', 'token_refused', always({ status: 403, body: { error: 'forbidden' } })],
    ['404 with a page', 'wrong_path', always(html(404))],
    [
      '404 with JSON about the route',
      'not_found',
      always({ status: 404, body: { error: 'no route' } }),
      flat,
    ],
    ['405', 'method_refused', always({ status: 405 })],
    ['413', 'body_too_large', always({ status: 413 })],
    ['400, because it wants an array', 'expects_array', simulate({ shape: 'array' }), flat],
    ['400, because it wants an object', 'expects_object', simulate({ shape: 'object' }), flatArray],
    [
      '415, because it wants an array',
      'expects_array',
      simulate({ shape: 'array', wrongShape: { status: 415 } }),
      flat,
    ],
    ['400 whatever is sent', 'body_refused', always({ status: 400, body: 'bad request' }), flat],
    ['429', 'rate_limited', always({ status: 429, headers: { 'retry-after': '120' } })],
    ['500', 'server_error', always({ status: 500, body: 'oops' })],
    ['402', 'refused', always({ status: 402 })],
    [
      '500 to the second identical delivery',
      'not_idempotent',
      simulate({ again: () => ({ status: 500, body: 'duplicate key' }) }),
    ],
    [
      '409 to the second identical event',
      'conflict_on_repeat',
      simulate({ again: () => ({ status: 409, body: { error: 'exists' } }) }),
    ],
    ['200 with an error', 'error_in_success', always({ status: 200, body: { success: false } })],
    ['200 with a PHP error', 'error_in_success', always({ status: 200, body: '<br />\n<b>Fatal error</b>' })],
    ['200 with a page', 'html_in_success', always(html(200))],
    ['200 to a wrong token', 'no_authentication', always({ status: 200, body: { ok: true } })],
    [
      'the weight as kilograms',
      'weight_in_kilograms',
      simulate(echoing((weight) => ({ weight_lb: Math.round(weight * 220.462) / 100 }))),
      flat,
    ],
    [
      'the weight with the unit kg',
      'weight_in_kilograms',
      simulate(echoing((weight) => ({ weight, unit: 'kg' }))),
      flat,
    ],
    [
      'another time zone',
      'time_zone_misread',
      simulate(echoing((_weight, at) => ({ received: at.toISOString().replace('Z', '-05:00') }))),
      flat,
    ],
  ])('%s: %s', async (_title, code, answers, options = {}) => {
    const check = await checkOf(answers, options);
    expect(codesOf(check)).toEqual([code]);
    expect(check.verdict).toBe(
      code === 'rate_limited' || code === 'conflict_on_repeat' ? 'warnings' : 'faulty',
    );
    expect(check.requests.length).toBeLessThanOrEqual(10);
  });

  test.each(['x-api-key', 'APIToken', 'token', 'id'] as const)(
    'a token that is read from %s, which an event does not have: the place is named',
    async (place) => {
      const check = await checkOf(simulate({ tokenIn: [place] }), { addFormat: 'event' });
      expect(codesOf(check)).toEqual(['token_place']);
      const names = {
        'x-api-key': 'header X-API-Key',
        APIToken: 'body APIToken',
        token: 'body token',
        id: 'query id',
      };
      expect(check.findings[0]?.evidence.detail).toBe(names[place]);
    },
  );

  test('a token in none of the settings is missing', async () => {
    expect(codesOf(await checkOf(simulate(), { token: null }))).toEqual(['token_missing']);
  });

  test('a wrong secret is named, if the receiver says that it is the signature', async () => {
    const refusal = { status: 401, body: { error: 'invalid signature' } };
    const wrong = simulate({ signed: (body) => `${body}x`, unauthorised: refusal });
    expect(codesOf(await checkOf(wrong))).toEqual(['signature_refused']);
  });

  test.each<[title: string, write: (body: string) => string]>([
    ['Python', (body) => pythonJson(JSON.parse(body))],
    ['PHP', (body) => escaped(body).replaceAll('/', '\\/')],
    ['Go', (body) => JSON.stringify(sorted(JSON.parse(body)))],
    ['pretty JSON', (body) => JSON.stringify(JSON.parse(body), null, 2)],
  ])('a signature of JSON that %s has written again is named', async (_title, write) => {
    for (const status of [401, 400]) {
      const check = await checkOf(simulate({ signed: write, unauthorised: { status, body: 'no' } }), flat);
      expect(codesOf(check)).toEqual(['signature_of_changed_body']);
    }
  });
});

describe('what is no fault has a name, and the verdict healthy', () => {
  test.each<[title: string, codes: string[], answers: Receiver['answer'], options?: Partial<Endpoints>]>([
    [
      '404 for an unknown customer',
      ['customer_unknown'],
      simulate({ first: () => ({ status: 404, body: { error: 'Customer not found' } }) }),
      flat,
    ],
    [
      '409 for a package that is there already',
      ['already_known'],
      simulate({ first: () => ({ status: 409 }), again: () => ({ status: 409 }) }),
      flat,
    ],
    ['200 with an empty body', ['empty_response'], simulate({ first: () => ({ status: 200 }) })],
    ['a healthy receiver of events', [], simulate()],
    ['a healthy receiver of flat packages', [], simulate({ tokenIn: ['x-api-key'] }), flat],
    ['a healthy receiver of arrays', [], simulate({ tokenIn: ['APIToken'], shape: 'array' }), flatArray],
    ['204', [], simulate({ first: () => ({ status: 204 }) })],
    [
      '204 with the type that PHP adds',
      [],
      simulate({ first: () => ({ status: 204, headers: { 'content-type': 'text/html; charset=UTF-8' } }) }),
    ],
    [
      'the right weight, also in kilograms, and the right time, also local',
      [],
      simulate(
        echoing((weight, at) => ({
          weight,
          weight_kg: Math.round(weight * 45.3592) / 100,
          received_at: at.toISOString(),
          local: new Date(at.getTime() - 18_000_000).toISOString().replace('Z', '-05:00'),
          stored_at: new Date().toISOString(),
          day: '2026-11-26T00:00:00Z',
        })),
      ),
      flat,
    ],
  ])('%s: %j', async (_title, codes, answers, options = {}) => {
    const check = await checkOf(answers, options);
    expect([codesOf(check), check.verdict]).toEqual([codes, 'healthy']);
  });

  test('a slow receiver that is good is slow, and nothing else', async () => {
    const good = simulate();
    const check = await checkOf((request, response) => {
      const isFirst = rig.receiver.received.length === 1;
      setTimeout(() => good(request, response), isFirst ? 5_500 : 0);
    });
    expect([codesOf(check), check.verdict]).toEqual([['slow_response'], 'healthy']);
  }, 30_000);
});

test('a receiver that locks out the right token after a wrong one has a warning', async () => {
  const good = simulate();
  let isLocked = false;
  const check = await checkOf((request, response) => {
    if (request.headers['authorization'] !== `Bearer ${TOKEN}`) isLocked = true;
    if (isLocked) answer(response, { status: 403 });
    else good(request, response);
  });
  expect([codesOf(check), check.verdict]).toEqual([['locked_out'], 'warnings']);
  expect(purposesOf(check)).toEqual(['delivery', 'repeat', 'wrong_token', 'after_wrong_token']);
});

const escaped = (text: string) =>
  text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return escaped(JSON.stringify(value));
  return `{${Object.entries(value)
    .map(([name, each]) => `${JSON.stringify(name)}: ${pythonJson(each)}`)
    .join(', ')}}`;
}

const sorted = (value: object): object =>
  Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
