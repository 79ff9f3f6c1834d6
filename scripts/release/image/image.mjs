// Writes the image layout of OCI: blobs named by their hash, and an index. Our own, because buildah and umoci exist only on
// Linux and record the time of the build, and no maintained npm package writes layouts.
import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeTarball } from '../tarball.mjs';
import { USER } from './base.mjs';

const OCI = 'application/vnd.oci.image';
const TYPES = {
  index: `${OCI}.index.v1+json`,
  manifest: `${OCI}.manifest.v1+json`,
  config: `${OCI}.config.v1+json`,
  layer: `${OCI}.layer.v1.tar+gzip`,
};

/** Files of other platforms. The tarball has them, because it runs everywhere. */
const OTHER_PLATFORM = /\/bcrypt\/prebuilds\/((?!linux-x64(\/|$))|linux-x64\/.*musl)/;

/** Writes the image to the folder `layout`, and as one archive to `<layout>.tar`. */
export async function writeImage({ base, application, layout, revision }) {
  const blobs = join(layout, 'blobs', 'sha256');
  mkdirSync(blobs, { recursive: true });
  const layers = [];
  for (const parts of layersOf(base, application)) layers.push(await writeLayer(blobs, parts, revision));
  const config = writeBlob(blobs, TYPES.config, configOf(layers, revision));
  const manifest = writeBlob(blobs, TYPES.manifest, {
    schemaVersion: 2,
    mediaType: TYPES.manifest,
    config,
    layers: layers.map(({ descriptor }) => descriptor),
    annotations: labelsOf(revision),
  });
  writeFileSync(join(layout, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  writeFileSync(join(layout, 'index.json'), JSON.stringify(indexOf(manifest, revision)));
  await writeTarball(`${layout}.tar`, [{ folder: layout }], { epoch: revision.epoch, isCompressed: false });
}

/** From what changes least to what changes with each release, so that a registry stores and sends only the last layer. */
function layersOf(base, application) {
  const isDependency = (path) => /^app\/node_modules(\/|$)/.test(path);
  return [
    [
      { folder: base },
      { directory: 'data', uid: USER, gid: USER, mode: 0o700 },
      { directory: 'tmp', mode: 0o1777 },
    ],
    [{ folder: application, at: 'app', keeps: (path) => isDependency(path) && !OTHER_PLATFORM.test(path) }],
    [{ folder: application, at: 'app', keeps: (path) => !isDependency(path) }],
  ];
}

async function writeLayer(blobs, parts, { epoch }) {
  const [plain, stored] = [createHash('sha256'), createHash('sha256')];
  const partial = join(blobs, 'partial');
  await writeTarball(partial, parts, { epoch, plain, stored });
  const hash = stored.digest('hex');
  const descriptor = { mediaType: TYPES.layer, digest: `sha256:${hash}`, size: statSync(partial).size };
  renameSync(partial, join(blobs, hash));
  return { descriptor, diffId: `sha256:${plain.digest('hex')}` };
}

function writeBlob(blobs, mediaType, value) {
  const bytes = Buffer.from(JSON.stringify(value));
  const hash = createHash('sha256').update(bytes).digest('hex');
  writeFileSync(join(blobs, hash), bytes);
  return { mediaType, digest: `sha256:${hash}`, size: bytes.length };
}

function configOf(layers, revision) {
  const created = timeOf(revision);
  return {
    created,
    architecture: 'amd64',
    os: 'linux',
    config: {
      User: `${USER}:${USER}`,
      ExposedPorts: { '3000/tcp': {} },
      Env: [
        'PATH=/usr/bin',
        'NODE_ENV=production',
        'HOST=0.0.0.0',
        'DATA_DIR=/data',
        // See docs/operations.md, Memory.
        'MALLOC_ARENA_MAX=2',
      ],
      Entrypoint: ['/usr/bin/node', '/app/bin/crossdock'],
      Cmd: ['serve'],
      WorkingDir: '/app',
      Labels: labelsOf(revision),
      StopSignal: 'SIGTERM',
      // In nanoseconds. Docker's format has it; podman and Kubernetes read their own settings.
      Healthcheck: {
        Test: ['CMD', '/usr/bin/node', '/app/bin/crossdock', 'health'],
        Interval: 10e9,
        Timeout: 5e9,
        StartPeriod: 30e9,
        Retries: 3,
      },
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: ['Node and its libraries', 'dependencies', 'application'].map((comment) => ({
      created,
      created_by: 'npm run release',
      comment,
    })),
  };
}

const indexOf = (manifest, { version }) => ({
  schemaVersion: 2,
  mediaType: TYPES.index,
  manifests: [
    {
      ...manifest,
      platform: { architecture: 'amd64', os: 'linux' },
      // The first is for podman and skopeo, the second for containerd and Docker.
      annotations: {
        'org.opencontainers.image.ref.name': version,
        'io.containerd.image.name': `localhost/crossdock:${version}`,
      },
    },
  ],
});

const labelsOf = (revision) => ({
  'org.opencontainers.image.title': 'crossdock',
  'org.opencontainers.image.version': revision.version,
  'org.opencontainers.image.revision': revision.commit,
  'org.opencontainers.image.created': timeOf(revision),
});

const timeOf = ({ epoch }) => new Date(epoch * 1000).toISOString();
