import { fork } from 'node:child_process';
import { createECDH, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../support/service/processes.js';

// A TLS server whose certificates cost as much to verify as 12 KB can: 55 keys on a binary curve of 571 bits, and signatures that verify
// nothing. Each is issued by the next one.

const CERTIFICATES = 55;

/** DER (X.690): a tag, the length, the contents. */
function der(tag: number, ...contents: Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  const { length } = body;
  if (length < 0x80) return Buffer.from([tag, length, ...body]);
  if (length < 0x1_00) return Buffer.from([tag, 0x81, length, ...body]);
  return Buffer.from([tag, 0x82, length >> 8, length & 0xff, ...body]);
}

const bytes = (hexadecimal: string) => Buffer.from(hexadecimal, 'hex');
const sequence = (...contents: Uint8Array[]) => der(0x30, ...contents);
const identifier = (hexadecimal: string) => der(0x06, bytes(hexadecimal));
const integer = (value: number) => der(0x02, Buffer.from([value]));
const bits = (content: Uint8Array) => der(0x03, Buffer.from([0]), content);
const text = (value: string) => Buffer.from(value, 'latin1');

const ECDSA_WITH_SHA256 = sequence(identifier('2a8648ce3d040302'));
const SIGNATURE = bits(sequence(integer(1), integer(3)));
const VALIDITY = sequence(der(0x17, text('250101000000Z')), der(0x17, text('491231235959Z')));
const name = (common: string) => sequence(der(0x31, sequence(identifier('550403'), der(0x0c, text(common)))));

/** A certificate without extensions (RFC 5280, 4.1). */
const certificate = (n: number, key: Uint8Array) =>
  sequence(
    sequence(integer(n), ECDSA_WITH_SHA256, name(`c${n + 1}`), VALIDITY, name(`c${n}`), key),
    ECDSA_WITH_SHA256,
    SIGNATURE,
  );

function makeChain(): { key: string; cert: string } {
  const leaf = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const curve = createECDH('sect571r1');
  curve.generateKeys();
  const key = sequence(
    sequence(identifier('2a8648ce3d0201'), identifier('2b81040027')),
    bits(curve.getPublicKey(null, 'compressed')),
  );
  const chain = Array.from({ length: CERTIFICATES }, (_, n) =>
    certificate(n, n === 0 ? leaf.publicKey.export({ type: 'spki', format: 'der' }) : key),
  );
  const armoured = chain.map(
    (one) => `-----BEGIN CERTIFICATE-----\n${one.toString('base64')}\n-----END CERTIFICATE-----\n`,
  );
  return {
    key: leaf.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: armoured.join(''),
  };
}

/** Starts it in a process of its own, so that its own work is not measured. */
export async function startCostlyServer(): Promise<{ url: string; stop(): void }> {
  const file = join(await makeFolder(), 'server.mjs');
  const options = { ...makeChain(), ciphers: 'DEFAULT@SECLEVEL=0' };
  await writeFile(
    file,
    `import { createServer } from 'node:tls';
     const server = createServer(${JSON.stringify(options)}, (socket) => socket.on('error', () => {}));
     server.on('tlsClientError', () => {});
     server.listen(0, '127.0.0.1', () => process.send(server.address().port));`,
  );
  const child = fork(file, { execArgv: [] });
  // The server sends nothing else.
  const [port] = (await once(child, 'message')) as [number];
  return { url: `https://localhost:${port}/`, stop: () => void child.kill() };
}
