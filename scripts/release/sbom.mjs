import { npm } from './dependencies.mjs';

const SBOM = ['sbom', '--sbom-format=cyclonedx', '--omit=dev', '--omit=optional', '--package-lock-only'];

/**
 * Returns npm's bill of materials in CycloneDX format. Replaces what differs between builds: a random number, the time, and the
 * name, which is the clone's folder.
 */
export function makeSbom(root, { name, commit, epoch }) {
  const { metadata, components, dependencies, bomFormat, specVersion, version } = JSON.parse(npm(root, SBOM));
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
