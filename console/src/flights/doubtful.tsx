import type { ManifestPackage, ScanResolution } from '../../../sdk/typescript/src/index.js';
import { api } from '../session/session.js';
import { t } from '../texts/texts.js';
import { useLoad } from '../ui/load.js';
import type { show } from '../ui/outcome.js';
import { Content } from '../ui/parts.js';

// The service puts a parcel on a flight although nobody knows whose it is. The console says so, because it flies to the wrong customer.

type Doubt = 'disputed' | 'ownerless';

/** Why a parcel should be laid aside instead of flying, or undefined. */
function doubtOf({ matches }: ScanResolution): Doubt | undefined {
  if (matches.prealerts.some(({ status }) => status === 'flagged')) return 'disputed';
  return matches.packages[0]?.user_code ? undefined : 'ownerless';
}

/** The result of adding a parcel: good, or in amber what is wrong with it. */
export function addedWords(resolution: ScanResolution): Parameters<typeof show> {
  const [found] = resolution.matches.packages;
  const facts = [found?.house_number, found?.user_code].filter(Boolean).join(' · ');
  const doubt = doubtOf(resolution);
  if (!doubt) return ['good', t('word.added'), facts];
  return ['warn', t(`word.${doubt}`), t(`manifests.${doubt}Added`, { package: facts })];
}

const NAMED = 10;

/** Names the parcels of a manifest whose owner is in doubt. */
export function Doubtful({ manifestId }: { manifestId: string }) {
  const detail = useLoad(
    async (signal) => (await api().manifests.get({ id: manifestId, disputed: true }, { signal })).data,
    [],
  );
  return (
    <Content of={detail}>
      {({ packages, disputed = [] }) => (
        <>
          <Named doubt="ownerless" packages={packages.filter(({ user_code }) => user_code === null)} />
          <Named
            doubt="disputed"
            packages={packages.filter(({ package_id }) => disputed.includes(package_id))}
          />
        </>
      )}
    </Content>
  );
}

function Named({ doubt, packages }: { doubt: Doubt; packages: ManifestPackage[] }) {
  if (packages.length === 0) return null;
  const names = packages.slice(0, NAMED).map(({ house_number }) => house_number);
  return (
    <p class="question" data-testid={`step-${doubt}`}>
      {t(`manifests.${doubt}`, { count: packages.length })}{' '}
      <span class="mono">
        {names.join(', ')}
        {packages.length > NAMED && ', …'}
      </span>
    </p>
  );
}
