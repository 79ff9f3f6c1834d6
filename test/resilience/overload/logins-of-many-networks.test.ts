import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import bcrypt from 'bcrypt';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { ask } from '../../support/service/client.js';
import { startService, type Service } from '../../support/service/service.js';

// One IPv6 line has 256 networks. A login in progress from each of them must not stop the logins of a tenant.

/** A hash takes about 0.05 s, so that logins wait for each other. */
const HASH_COST = 10;
const USERS = ['warehouse', 'manager', 'admin', 'iex', 'hrb'];
const LOGINS = 10;
const LIMIT_MS = 90_000;

let service: Service;
/** Separate connections, because those of the attack are all in use. */
let agents: { attack: Agent; users: Agent };

beforeAll(async () => {
  const hash = await bcrypt.hash(DEMO.password, HASH_COST);
  agents = { attack: new Agent({ keepAlive: true }), users: new Agent({ keepAlive: true }) };
  service = await startService({
    env: {
      TRUST_PROXY: '127.0.0.1',
      PASSWORD_HASH_COST: String(HASH_COST),
      MAX_CONNECTIONS_PER_ADDRESS: '2000',
    },
  });
  await service.owner.query('update users set password_hash = $1', [hash]);
}, LIMIT_MS);

afterAll(async () => {
  agents.attack.destroy();
  agents.users.destroy();
  await service.stop();
}, LIMIT_MS);

type Login = { address: string; username: string; password?: string; host?: string };

async function logIn(
  { address, username, password = DEMO.password, host = DEMO.hosts.demo }: Login,
  agent: Agent,
): Promise<number> {
  const { status } = await ask(
    service.url,
    {
      method: 'POST',
      path: '/api/login.php',
      headers: { host, 'x-forwarded-for': address },
      body: { action: 'login', username, password },
    },
    agent,
  );
  return status;
}

/** Keeps one login with an invented name in progress from each address, until stopped. */
function attack(addresses: string[], hosts: string[] = [DEMO.hosts.demo]) {
  const stopping = new AbortController();
  const ended = addresses.map(async (address, at) => {
    while (!stopping.signal.aborted) {
      const username = `nobody-${Math.random()}`;
      const host = hosts[at % hosts.length] ?? DEMO.hosts.demo;
      const status = await logIn({ address, username, password: 'a wrong password', host }, agents.attack);
      // Fewer of each when there are many, because they use the processor of this test too.
      if (status === 503) await sleep(100 + addresses.length);
    }
  });
  return async () => {
    stopping.abort();
    await Promise.all(ended);
  };
}

/** Logs in users one after the other, so that a slow machine does not make them wait for each other. Returns the statuses. */
async function logInUsers(addressOf: (n: number) => string): Promise<number[]> {
  const statuses: number[] = [];
  for (let n = 0; n < LOGINS; n += 1)
    statuses.push(
      await logIn({ address: addressOf(n), username: USERS[n % USERS.length] ?? '' }, agents.users),
    );
  return statuses;
}

const successes = (statuses: number[]) => statuses.filter((status) => status === 200).length;
/** Networks of one /56, other ones for each test: each may fail 50 times. */
const ofLine = (count: number, line: string) =>
  Array.from({ length: count }, (_, n) => `2001:db8:${line}${n.toString(16).padStart(2, '0')}::1`);

const OFFICE = '198.51.100.7';
beforeEach(async () => {
  expect(await logIn({ address: OFFICE, username: 'warehouse' }, agents.users)).toBe(200);
});

test.each([
  [18, '1:1'],
  [40, '2:1'],
  [256, '3:1'],
])(
  'logins from %i networks of one line refuse none of a known network, and few of new networks',
  async (networks, line) => {
    const stop = attack(ofLine(networks, line));
    try {
      await sleep(500);
      const known = await logInUsers(() => OFFICE);
      const unknown = await logInUsers((n) => `203.0.${networks % 200}.${n + 1}`);
      expect(known).toEqual(Array<number>(LOGINS).fill(200));
      expect(successes(unknown)).toBeGreaterThanOrEqual(LOGINS * 0.7);
    } finally {
      await stop();
    }
  },
  LIMIT_MS,
);

test(
  'logins from 44 networks at the hosts of two tenants refuse none of a known network, and few of new networks',
  async () => {
    const stop = attack(ofLine(44, '4:1'), [DEMO.hosts.demo, DEMO.hosts.two]);
    try {
      await sleep(500);
      const known = await logInUsers(() => OFFICE);
      const unknown = await logInUsers((n) => `203.1.44.${n + 1}`);
      expect(known).toEqual(Array<number>(LOGINS).fill(200));
      expect(successes(unknown)).toBeGreaterThanOrEqual(LOGINS * 0.7);
    } finally {
      await stop();
    }
  },
  LIMIT_MS,
);

test(
  'logins from 60 networks that have nothing in common refuse none of a known network',
  async () => {
    const addresses = Array.from({ length: 60 }, (_, n) => `2001:db9:${n}::1`);
    const stop = attack(addresses);
    try {
      await sleep(500);
      expect(await logInUsers(() => OFFICE)).toEqual(Array<number>(LOGINS).fill(200));
    } finally {
      await stop();
    }
  },
  LIMIT_MS,
);
