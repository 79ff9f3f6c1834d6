import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeCertificates, startSecure, type Certificates } from '../../support/checks/certificates.js';
import { codesOf, startCheckRig, type CheckRig } from '../../support/checks/check-rig.js';
import { simulate, stored } from '../../support/checks/simulator.js';
import { withService } from '../../support/fixture/with-service.js';
import { hang, startReceiver } from '../../support/receivers/receiver.js';
import { startWire, closeReceivers, answering } from '../../support/receivers/receivers.js';
import { freePort, removeFolders } from '../../support/service/processes.js';

const fixture = withService();
let rig: CheckRig;
let certificates: Certificates;

beforeAll(async () => {
  rig = await startCheckRig(fixture);
  certificates = await makeCertificates();
  rig.dns.say(certificates.host, ['127.0.0.1']);
  rig.dns.say('private.courier.example', ['10.1.2.3']);
  rig.dns.say('silent.courier.example', 'SERVFAIL');
});

afterAll(async () => {
  await rig.stop();
  await closeReceivers();
  await removeFolders();
});

async function codesAt(url: string, client: Parameters<CheckRig['check']>[1] = {}): Promise<string[]> {
  await rig.setUrl(url);
  return codesOf(await rig.check('add_package', client));
}

describe('before a request is sent', () => {
  test.each([
    ['https://missing.courier.example/hook', 'dns_missing'],
    ['https://silent.courier.example/hook', 'dns_failed'],
    ['https://private.courier.example/hook', 'address_not_public'],
    ['https://192.168.4.5/hook', 'address_not_public'],
  ])('%s: %s', async (url, code) => {
    expect(await codesAt(url)).toEqual([code]);
  });

  test('a host that the operator does not list is named, and so is a port that is not allowed', async () => {
    expect(await codesAt(rig.receiver.url, { hosts: ['other.example'] })).toEqual(['host_not_listed']);
    expect(await codesAt(rig.receiver.url, { ports: [443] })).toEqual(['url_refused']);
    expect(rig.receiver.received).toEqual([]);
  });

  test('a port at which nothing listens refuses the connection', async () => {
    expect(await codesAt(`http://127.0.0.1:${await freePort()}/hook`)).toEqual(['connection_refused']);
  });
});

describe('a response that is none', () => {
  test('no response within the limit of deliveries is a timeout', async () => {
    const silent = await startReceiver(hang);
    await rig.setUrl(silent.url);
    const check = await rig.check();
    await silent.stop();
    expect(codesOf(check)).toEqual(['timeout']);
    expect(check.requests).toMatchObject([{ outcome: 'timeout', error: 'no response within 10 s' }]);
  }, 30_000);

  test('a closed connection and another protocol are named', async () => {
    const closing = await startWire((socket) => void socket.once('data', () => socket.destroy()));
    expect(await codesAt(closing.url)).toEqual(['connection_lost']);
    const other = await startWire(answering('SSH-2.0-OpenSSH_9.6\r\n'));
    expect(await codesAt(other.url)).toEqual(['not_http']);
  });
});

describe('TLS', () => {
  const cases = [
    ['expired', 'certificate_expired'],
    ['otherName', 'certificate_wrong_name'],
    ['incomplete', 'certificate_chain_incomplete'],
    ['selfSigned', 'certificate_untrusted'],
  ] as const;

  test.each(cases)('%s: %s, and no request arrives', async (name, code) => {
    let requests = 0;
    const server = await startSecure(certificates[name], (_request, response) => {
      requests += 1;
      response.end();
    });
    const codes = await codesAt(`https://${certificates.host}:${server.port}/hook`, { ca: certificates.ca });
    await server.stop();
    expect([codes, requests]).toEqual([[code], 0]);
  });

  test('a complete chain is healthy', async () => {
    const good = simulate({ first: () => stored });
    const server = await startSecure(certificates.right, (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const headers = Object.fromEntries(
          Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
        );
        const body = Buffer.concat(chunks).toString();
        good({ path: request.url ?? '', headers, body, atMs: performance.now() }, response);
      });
    });
    const codes = await codesAt(`https://${certificates.host}:${server.port}/hook`, { ca: certificates.ca });
    await server.stop();
    expect(codes).toEqual([]);
  });

  test('a server without TLS is named', async () => {
    const plain = await startReceiver();
    const url = `${plain.url.replace('http:', 'https:').replace('127.0.0.1', certificates.host)}/hook`;
    expect(await codesAt(url)).toEqual(['tls_failed']);
    await plain.stop();
  });
});
