import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { makeFolder } from '../service/processes.js';

export type Certificates = {
  /** The authority that the client trusts. */
  ca: string;
  /** The name that all certificates but `otherName` have. */
  host: string;
  right: ServerOptions;
  expired: ServerOptions;
  otherName: ServerOptions;
  /** Without the certificate between it and the authority. */
  incomplete: ServerOptions;
  selfSigned: ServerOptions;
};

const HOST = 'hooks.courier.example';

/** Makes an authority, an intermediate one, and the certificates of servers, with openssl. */
export async function makeCertificates(): Promise<Certificates> {
  const folder = await makeFolder();
  const path = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const readText = (name: string) => readFileSync(path(name), 'utf8');
  const makeKey = (name: string) =>
    openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', `${name}.key`);
  const signed = (name: string, by: string, extension: string, days = '2') => {
    makeKey(name);
    writeFileSync(path(`${name}.ext`), extension);
    openssl('req', '-new', '-key', `${name}.key`, '-subj', `/CN=${name}`, '-out', `${name}.csr`);
    openssl(
      ...['x509', '-req', '-in', `${name}.csr`, '-CA', `${by}.pem`, '-CAkey', `${by}.key`, '-CAcreateserial'],
      ...['-days', days, '-extfile', `${name}.ext`, '-out', `${name}.pem`],
    );
    return readText(`${name}.pem`);
  };
  const optionsOf = (name: string, cert: string): ServerOptions => ({ key: readText(`${name}.key`), cert });

  makeKey('ca');
  openssl(
    'req',
    '-x509',
    '-new',
    '-key',
    'ca.key',
    '-subj',
    '/CN=Test authority',
    '-days',
    '2',
    '-out',
    'ca.pem',
  );
  const intermediate = signed('intermediate', 'ca', 'basicConstraints=critical,CA:true\n');
  const named = `subjectAltName=DNS:${HOST}\n`;
  const leaf = signed('leaf', 'intermediate', named);
  const expired = signed('expired', 'ca', named, '-1');
  const other = signed('other', 'ca', 'subjectAltName=DNS:other.courier.example\n');
  makeKey('own');
  openssl('req', '-x509', '-new', '-key', 'own.key', '-subj', `/CN=${HOST}`, '-days', '2', '-out', 'own.pem');
  return {
    ca: readText('ca.pem'),
    host: HOST,
    right: optionsOf('leaf', `${leaf}${intermediate}`),
    expired: optionsOf('expired', expired),
    otherName: optionsOf('other', other),
    incomplete: optionsOf('leaf', leaf),
    selfSigned: optionsOf('own', readText('own.pem')),
  };
}

/** Starts a server with a certificate. Returns its port, and a function that stops it. */
export async function startSecure(options: ServerOptions, listener: RequestListener) {
  const server = createServer(options, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    // A server that listens on TCP has this kind of address.
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
