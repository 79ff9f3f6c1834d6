// npm run release: builds the release artefacts of the present commit into release/. Two builds of one commit have the same
// bytes (decision 0052). Options: --out <folder>; --no-image, which needs neither Debian's apt nor a network.
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { prepare, root } from '../prepare.mjs';

const USAGE = 'Usage: npm run release -- [--out FOLDER] [--no-image]\n';

const { values } = readOptions();
if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        out: { type: 'string', default: `${root}/release` },
        'no-image': { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    process.stderr.write(`${error.message}\n${USAGE}`);
    process.exit(1);
  }
}
const out = resolve(values.out);
const stage = mkdtempSync(join(tmpdir(), 'crossdock-release-'));
try {
  await release();
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
} finally {
  rmSync(stage, { recursive: true, force: true });
}

async function release() {
  prepare();
  // Loaded only now, because a fresh clone has no dependencies yet.
  const { readRevision } = await import('./revision.mjs');
  const { stageApplication } = await import('./application.mjs');
  const { installDependencies, pruneDependencies } = await import('./dependencies.mjs');
  const { writeTarball } = await import('./tarball.mjs');
  const { makeSbom } = await import('./sbom.mjs');

  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const revision = readRevision(root);
  const name = `crossdock-${revision.version}`;
  const application = join(stage, name);
  step('Installing the production dependencies');
  installDependencies(root, application);
  const sbom = makeSbom(application, revision);
  pruneDependencies(application);
  stageApplication(root, application, revision);
  step('Writing the tarball');
  await writeTarball(join(out, `${name}.tar.gz`), [{ folder: application, at: name }], {
    epoch: revision.epoch,
  });
  writeJson(`${name}.cdx.json`, sbom);
  if (!values['no-image']) await buildImage(name, application, sbom, revision);
  writeFileSync(join(out, 'SHA256SUMS'), checksums());
  step(`Wrote ${relative(process.cwd(), out) || '.'}`);
}

async function buildImage(name, application, sbom, revision) {
  const { stageBase } = await import('./image/base.mjs');
  const { writeImage } = await import('./image/image.mjs');
  step('Building the image');
  const base = join(stage, 'base');
  const components = stageBase(root, base);
  await writeImage({ base, application, layout: join(out, `${name}-image`), revision });
  writeJson(`${name}-image.cdx.json`, { ...sbom, components: [...components, ...sbom.components] });
}

/** The format of sha256sum, for all files of the release. */
function checksums() {
  return readdirSync(out, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(out, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort()
    .map(
      (path) =>
        `${createHash('sha256')
          .update(readFileSync(join(out, path)))
          .digest('hex')}  ${path}\n`,
    )
    .join('');
}

function writeJson(name, value) {
  writeFileSync(join(out, name), `${JSON.stringify(value, null, 2)}\n`);
}

function step(text) {
  process.stderr.write(`${text} ...\n`);
}
