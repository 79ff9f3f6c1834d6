// The base of the image: Node from npm, and the libraries that it loads from Debian. deploy/image/base.json pins both with
// checksums.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { npm } from '../dependencies.mjs';

/** The account of the image. Hosts rarely have an account with this number. */
export const USER = 65_532;

/** Node asks for the account's name and for host names. */
const FILES = {
  'etc/passwd': `crossdock:x:${USER}:${USER}::/data:/nonexistent\n`,
  'etc/group': `crossdock:x:${USER}:\n`,
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};

/** Writes the root file system without the application into `target`. Returns its components for the bill of materials. */
export function stageBase(root, target) {
  const { node, debian } = JSON.parse(readFileSync(join(root, 'deploy', 'image', 'base.json'), 'utf8'));
  const cache = join(root, 'node_modules', '.cache', 'image-base');
  mkdirSync(cache, { recursive: true });
  const unpacked = mkdtempSync(join(tmpdir(), 'crossdock-base-'));
  try {
    run('tar', ['-xzf', fetchNode(cache, node), '-C', unpacked, ...Object.keys(node.files)]);
    for (const each of debian.packages) run('dpkg-deb', ['-x', fetchDebian(cache, each), unpacked]);
    for (const [from, to] of Object.entries({ ...node.files, ...debian.files })) {
      mkdirSync(dirname(join(target, to)), { recursive: true });
      copyFileSync(join(unpacked, from), join(target, to));
    }
  } finally {
    rmSync(unpacked, { recursive: true, force: true });
  }
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    writeFileSync(join(target, path), text);
  }
  return [componentOf(node.package, node.version, 'npm'), ...debian.packages.map(debianComponent)];
}

function fetchNode(cache, { package: name, version, integrity }) {
  const path = join(cache, `${name}-${version}.tgz`);
  if (!existsSync(path)) npm(cache, ['pack', `${name}@${version}`, '--silent']);
  const [algorithm] = integrity.split('-');
  return verified(path, `${algorithm}-${hashOf(path, algorithm, 'base64')}`, integrity);
}

function fetchDebian(cache, { name, version, sha256 }) {
  const path = join(cache, `${name}_${version}_amd64.deb`);
  if (!existsSync(path)) run('apt-get', ['download', `${name}:amd64=${version}`], cache);
  return verified(path, hashOf(path, 'sha256', 'hex'), sha256);
}

function verified(path, found, expected) {
  if (found === expected) return path;
  rmSync(path);
  throw new Error(`${path} has the checksum ${found}, but deploy/image/base.json states ${expected}.`);
}

const hashOf = (path, algorithm, encoding) =>
  createHash(algorithm).update(readFileSync(path)).digest(encoding);

function run(command, args, cwd) {
  const { status, error, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (error)
    throw new Error(`The image needs ${command}, which Debian has: ${error.message}. --no-image omits it.`);
  if (status !== 0)
    throw new Error(
      `${command} ${args.join(' ')} failed. docs/deploy.md explains how to update the base.\n${stderr}`,
    );
}

const debianComponent = ({ name, version }) => componentOf(name, version, 'deb/debian');

const componentOf = (name, version, kind) => {
  const purl = `pkg:${kind}/${name}@${encodeURIComponent(version)}`;
  return { 'bom-ref': purl, type: 'library', name, version, purl };
};
