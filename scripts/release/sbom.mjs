import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from './dependencies.mjs';

/**
 * Returns npm's bill of materials of the installation in `target`, in CycloneDX format. Replaces what differs between builds: a
 * random number, the time, and the name, which is the folder's. Without the other dependencies in package.json, because
 * `npm sbom --omit=dev` also omits packages that production shares with development.
 */
export function makeSbom(target, { name, commit, epoch }) {
  const path = join(target, 'package.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify({ ...manifest, devDependencies: {}, optionalDependencies: {} }));
  const { metadata, components, dependencies, bomFormat, specVersion, version } = JSON.parse(
    npm(target, ['sbom', '--sbom-format=cyclonedx']),
  );
  return {
    ...{ bomFormat, specVersion, version },
    metadata: {
      ...metadata,
      component: { ...metadata.component, type: 'application', name },
      timestamp: new Date(epoch * 1000).toISOString(),
      properties: [{ name: 'commit', value: commit }],
    },
    components: components.sort(byRef),
    dependencies: dependencies
      .map(({ dependsOn, ...dependency }) => ({ ...dependency, dependsOn: dependsOn?.sort() }))
      .sort((a, b) => compare(a.ref, b.ref)),
  };
}

const byRef = (a, b) => compare(a['bom-ref'], b['bom-ref']);

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
