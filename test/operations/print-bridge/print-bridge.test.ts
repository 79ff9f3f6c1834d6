import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';
import { ready as zplReady } from 'zpl-renderer-js';
import { newNumber } from '../../support/builders/parcels.js';
import { rounds } from '../../support/harness/effort.js';
import { endProcesses, makeFolder, removeFolders, run, until } from '../../support/service/processes.js';
import { startService, type Service } from '../../support/service/service.js';
import { startLabelPrinter, statusOf, type LabelPrinter } from './label-printer.js';

const require = createRequire(import.meta.url);

let service: Service;
let folder: string;
beforeAll(async () => {
  service = await startService();
  folder = await makeFolder();
  const wasm = readFileSync(require.resolve('zxing-wasm/reader/zxing_reader.wasm'));
  prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(wasm).buffer } });
}, 60_000);
const printers: LabelPrinter[] = [];
afterEach(async () => {
  await endProcesses();
  // A relay that still listens would keep jest from ending.
  for (const relay of relays.splice(0)) relay.cut();
  for (const printer of printers.splice(0)) await printer.switchOff().catch(() => undefined);
});
afterAll(async () => {
  await removeFolders();
  await service.stop();
});

async function newPrinter(...args: Parameters<typeof startLabelPrinter>): Promise<LabelPrinter> {
  const printer = await startLabelPrinter(...args);
  printers.push(printer);
  return printer;
}

let serial = 0;
const newStation = () => `belt-${(serial += 1)}`;

/** Requests labels of new packages, and returns their house numbers. */
async function requestLabels(station: string, count: number): Promise<string[]> {
  const packages: { id: string; house: string }[] = [];
  for (let n = 0; n < count; n += 1) {
    const body = { tracking_number: newNumber(), weight: 1 };
    const { body: reply } = await service.call('receivePackage', { as: 'admin', body });
    packages.push({ id: String(reply['data'].package_id), house: String(reply['data'].house_number) });
  }
  const body = { print_id: randomUUID(), station, package_ids: packages.map(({ id }) => id) };
  expect((await service.call('createLabelJobs', { as: 'admin', body })).status).toBe(200);
  return packages.map(({ house }) => house);
}

const settingsOf = (station: string, printer: string) => ({
  CROSSDOCK_URL: service.url,
  CROSSDOCK_USERNAME: 'warehouse',
  CROSSDOCK_PASSWORD: 'crossdock-demo',
  STATION: station,
  PRINTER: printer,
  JOURNAL_DIR: join(folder, `journal-${station}`),
  PRINTER_TIMEOUT_SECONDS: '2',
});
type Settings = Record<string, string>;

const startBridge = (station: string, printer: string, changes: Settings = {}) =>
  run('print-bridge/print-bridge.js', { ...settingsOf(station, printer), ...changes });

type Listed = { status: string; house_number: string; reason: string | null; job_id: string };
async function jobsAt(station: string): Promise<Listed[]> {
  const query = { station, limit: 500 };
  return (await service.call('listLabelJobs', { as: 'admin', query })).body['data'];
}
/** Read from the table, because waiting for a status through the API would take more CPU time than the bridges. */
async function statusesAt(station: string): Promise<string[]> {
  const { rows } = await service.owner.query<{ status: string }>(
    'select status from label_jobs where station = $1 order by id',
    [station],
  );
  return rows.map(({ status }) => status);
}
const untilStatuses = (station: string, statuses: string[]) =>
  until(async () => JSON.stringify(await statusesAt(station)) === JSON.stringify(statuses));

const housesOf = (labels: string[]) =>
  labels.map((label) => /\^BCN[^^]*\^FH_\^FD([^^]*)\^FS/.exec(label)?.[1]);

async function barcodeOf(zpl: string): Promise<string[]> {
  const { api } = await zplReady;
  const png = await api.zplToBase64Async(zpl, 101.6, 152.4, 8);
  return (await readBarcodes(new Uint8Array(Buffer.from(png, 'base64')))).map(({ text }) => text);
}

type Relay = { url: string; cut(): void; mend(): Promise<void> };
const relays: Relay[] = [];

/** Starts a relay in front of the service, which can be cut. */
async function startRelay(): Promise<Relay> {
  const sockets = new Set<Socket>();
  let port = 0;
  let server: Server;
  const mend = () =>
    new Promise<void>((resolve) => {
      server = createServer((client) => {
        const upstream = connect(Number(new URL(service.url).port), '127.0.0.1');
        for (const socket of [client, upstream]) sockets.add(socket.on('error', () => undefined));
        client.pipe(upstream).pipe(client);
      }).listen(port, '127.0.0.1', () => {
        // A TCP server has an address of this kind.
        ({ port } = server.address() as AddressInfo);
        resolve();
      });
    });
  await mend();
  const cut = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const relay = { url: `http://127.0.0.1:${port}`, cut, mend };
  relays.push(relay);
  return relay;
}

describe('a TCP printer', () => {
  test('gets the labels in their order, as the service draws them, and SIGTERM ends the bridge', async () => {
    const [station, printer] = [newStation(), await newPrinter({ status: statusOf() })];
    const houses = await requestLabels(station, 3);
    const bridge = startBridge(station, printer.address);
    await untilStatuses(station, ['printed', 'printed', 'printed']);
    expect(housesOf(printer.labels)).toEqual(houses);
    expect(await barcodeOf(printer.labels[1] ?? '')).toEqual([houses[1]]);
    bridge.child.kill('SIGTERM');
    expect(await bridge.ended).toEqual({ code: 0, signal: null });
    expect(bridge.output()).not.toContain('crossdock-demo');
    expect(await readdir(settingsOf(station, '').JOURNAL_DIR)).toEqual([]);
  });

  test('prints after it was switched off, and after it was out of paper', async () => {
    const [station, printer] = [newStation(), await newPrinter({ status: statusOf({ isOutOfPaper: true }) })];
    await printer.switchOff();
    const houses = await requestLabels(station, 1);
    const bridge = startBridge(station, printer.address);
    await until(async () => bridge.output().includes('takes no labels'));
    expect(await statusesAt(station)).toEqual(['claimed']);
    await printer.switchOn();
    await until(async () => printer.connections >= 1);
    expect(printer.labels).toEqual([]);
    printer.behaviour = { status: statusOf() };
    await untilStatuses(station, ['printed']);
    expect(housesOf(printer.labels)).toEqual(houses);
    expect(bridge.output()).toContain('is back.');
  });

  test.each([
    ['breaks the connection midway', { cutAfter: 100 }, /connection to the printer broke/],
    ['does not close the connection', { closeAfterMs: -1 }, /within 2 seconds/],
  ])(
    'that %s leaves the label unconfirmed, and the next label is printed',
    async (_what, behaviour, reason) => {
      const [station, printer] = [newStation(), await newPrinter(behaviour)];
      const houses = await requestLabels(station, 2);
      printer.onLabel = () => {
        if (printer.connections > 1) printer.behaviour = {};
      };
      startBridge(station, printer.address);
      await untilStatuses(station, ['unconfirmed', 'printed']);
      expect((await jobsAt(station)).at(-1)?.reason).toMatch(reason);
      expect(housesOf(printer.labels).at(-1)).toBe(houses[1]);
    },
  );

  test('that is slow gets each label once', async () => {
    const [station, printer] = [newStation(), await newPrinter({ closeAfterMs: 700 })];
    const houses = await requestLabels(station, 2);
    startBridge(station, printer.address);
    await untilStatuses(station, ['printed', 'printed']);
    expect(housesOf(printer.labels)).toEqual(houses);
  });

  test('gets each label once from two bridges of its station', async () => {
    const [station, printer] = [newStation(), await newPrinter()];
    const houses = await requestLabels(station, 6);
    const other = { JOURNAL_DIR: join(folder, 'journal-of-another') };
    startBridge(station, printer.address);
    startBridge(station, printer.address, other);
    await untilStatuses(
      station,
      houses.map(() => 'printed'),
    );
    expect(housesOf(printer.labels).sort()).toEqual([...houses].sort());
  });
});

test('a second bridge with the same journal does not start', async () => {
  const [station, printer] = [newStation(), await newPrinter()];
  const first = startBridge(station, printer.address);
  await until(async () => first.output().includes('sends labels to'));
  const second = startBridge(station, printer.address);
  expect(await second.ended).toMatchObject({ code: 1 });
  expect(second.output()).toContain('Another print bridge uses the journal');
});

test('labels are printed once, and reported, although the service goes away while one is being sent', async () => {
  const [station, printer, relay] = [newStation(), await newPrinter(), await startRelay()];
  const bridge = startBridge(station, printer.address, { CROSSDOCK_URL: relay.url });
  const houses = await requestLabels(station, 2);
  printer.onLabel = () => relay.cut();
  await until(async () => bridge.output().includes('cannot be reached'));
  expect(await statusesAt(station)).toEqual(['sending', 'waiting']);
  printer.onLabel = () => undefined;
  await relay.mend();
  await untilStatuses(station, ['printed', 'printed']);
  expect(housesOf(printer.labels)).toEqual(houses);
  expect(bridge.output()).toContain('The service is back.');
});

test('the bridge logs in again when its token ends', async () => {
  const [station, printer] = [newStation(), await newPrinter()];
  await requestLabels(station, 1);
  startBridge(station, printer.address);
  await untilStatuses(station, ['printed']);
  await service.owner.query(
    `update users set token_version = token_version + 1 where username = 'warehouse'`,
  );
  const body = { print_id: randomUUID(), station, package_ids: [await anyPackage()] };
  expect((await service.call('createLabelJobs', { as: 'admin', body })).status).toBe(200);
  await until(async () => printer.labels.length === 2);
});

async function anyPackage(): Promise<string> {
  const { rows } = await service.owner.query<{ id: string }>(
    'select package_id as id from label_jobs limit 1',
  );
  return rows[0]?.id ?? '';
}

describe('a folder', () => {
  test('gets one file per label, whose name contains the job', async () => {
    const station = newStation();
    const labels = join(folder, station);
    await mkdir(labels);
    const houses = await requestLabels(station, 2);
    startBridge(station, labels);
    await untilStatuses(station, ['printed', 'printed']);
    const names = (await readdir(labels)).sort();
    const expected = (await jobsAt(station)).map((job) => `label-${job.house_number}-${job.job_id}.zpl`);
    expect(names).toEqual(expected.sort());
    const contents = await Promise.all(names.map((name) => readFile(join(labels, name), 'utf8')));
    expect(housesOf(contents).sort()).toEqual([...houses].sort());
  });

  test('that is missing makes labels wait', async () => {
    const station = newStation();
    const labels = join(folder, station);
    await requestLabels(station, 1);
    const bridge = startBridge(station, labels);
    await until(async () => bridge.output().includes('takes no labels'));
    expect(await statusesAt(station)).toEqual(['claimed']);
    await mkdir(labels);
    await untilStatuses(station, ['printed']);
  });
});

describe('SIGKILL at any step', () => {
  const preload = `--import=${pathToFileURL(join(import.meta.dirname, 'kill-at.mjs')).href}`;

  /** Kills a bridge at a step, and lets the next one end its work. Returns whether the step was reached. */
  async function killAt(step: number, station: string, printer: string, isOver: () => Promise<boolean>) {
    const killed = startBridge(station, printer, { NODE_OPTIONS: preload, KILL_AT: String(step) });
    await until(async () => killed.child.signalCode !== null || (await isOver()));
    const wasKilled = killed.child.signalCode === 'SIGKILL';
    if (!wasKilled) {
      killed.child.kill('SIGTERM');
      await killed.ended;
      return false;
    }
    // The lease of a claim that nobody uses ends.
    await service.owner.query(
      `update label_jobs set lease_until = now() - interval '1 second' where station = $1 and status = 'claimed'`,
      [station],
    );
    const next = startBridge(station, printer);
    await until(isOver);
    next.child.kill('SIGTERM');
    await next.ended;
    return true;
  }

  const isOver = (station: string) => async () =>
    (await statusesAt(station)).every((status) => status === 'printed' || status === 'unconfirmed');

  test(
    'prints no label twice on a TCP printer, and one that may have been printed is unconfirmed',
    async () => {
      const printer = await newPrinter({ status: statusOf() });
      const seen = new Set<string>();
      let [step, isReached] = [rounds(4, 1), true];
      for (; isReached; step += rounds(9, 1)) {
        const station = newStation();
        const [house = ''] = await requestLabels(station, 1);
        isReached = await killAt(step, station, printer.address, isOver(station));
        const [status = ''] = await statusesAt(station);
        const copies = housesOf(printer.labels).filter((each) => each === house).length;
        seen.add(`${status} ${copies}`);
        expect([step, copies <= 1]).toEqual([step, true]);
        expect([step, status === 'printed' ? copies : 1]).toEqual([step, 1]);
      }
      // Steps before, in and after the printing were reached.
      expect(step).toBeGreaterThan(25);
      expect([...seen]).toEqual(expect.arrayContaining(['printed 1']));
    },
    rounds(120_000, 900_000),
  );

  test(
    'writes each label once into a folder, also if the reader of the folder removes files at once',
    async () => {
      const labels = join(folder, newStation());
      await mkdir(labels);
      let isReached = true;
      for (let step = rounds(4, 1); isReached; step += rounds(9, 1)) {
        const station = newStation();
        const [house] = await requestLabels(station, 1);
        const taken: string[] = [];
        isReached = await killAt(step, station, labels, async () => {
          // First, because a label of which the service knows that it is printed is in the folder.
          const wasOver = await isOver(station)();
          for (const name of (await readdir(labels)).filter((each) => each.endsWith('.zpl'))) {
            taken.push(name);
            await rm(join(labels, name));
          }
          return wasOver;
        });
        expect([step, taken.length]).toEqual([step, 1]);
        expect(taken[0]).toContain(`label-${house}-`);
        expect(await statusesAt(station)).toEqual(['printed']);
      }
      expect(await readdir(labels)).toEqual([]);
    },
    rounds(120_000, 900_000),
  );
});

describe('settings', () => {
  test('are checked with one line per fault that says what to change', async () => {
    const bridge = run('print-bridge/print-bridge.js', {
      CROSSDOCK_URL: 'http://demo.crossdock.example',
      PRINTER: 'tcp://192.168.1.50',
      CROSSDOCK_USERNAME: 'warehouse',
      CROSSDOCK_PASSWORD_FILE: join(folder, 'missing'),
    });
    expect(await bridge.ended).toMatchObject({ code: 78 });
    expect(bridge.output().trim().split('\n').sort()).toEqual([
      expect.stringMatching(/^CROSSDOCK_PASSWORD_FILE cannot be read: ENOENT/),
      expect.stringMatching(/^CROSSDOCK_URL must be an https:\/\/ URL/),
      expect.stringMatching(/^PRINTER must be tcp:\/\/host:9100/),
      'STATION is not set',
    ]);
  });

  test('a wrong password ends the bridge with status 78, and a password file works', async () => {
    const [station, printer] = [newStation(), await newPrinter()];
    const wrong = startBridge(station, printer.address, { CROSSDOCK_PASSWORD: 'wrong' });
    expect(await wrong.ended).toMatchObject({ code: 78 });
    expect(wrong.output()).toContain('The service refused the login');
    const file = join(folder, 'password');
    await writeFile(file, 'crossdock-demo\n');
    await requestLabels(station, 1);
    startBridge(station, printer.address, { CROSSDOCK_PASSWORD: '', CROSSDOCK_PASSWORD_FILE: file });
    await untilStatuses(station, ['printed']);
  });

  test('--help lists them', async () => {
    const help = run('print-bridge/print-bridge.js', {}, ['--help']);
    expect(await help.ended).toMatchObject({ code: 0 });
    expect(help.output()).toContain('PRINTER_TIMEOUT_SECONDS');
  });
});
