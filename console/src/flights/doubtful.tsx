import type { ManifestPackage, Prealert, ScanResolution } from '../../../sdk/typescript/src/index.js';
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

const FLAGGED = 500;
const NAMED = 10;

/** Numbers are compared without what scanners and people add. */
const keyOf = (number: string) => number.replace(/[^0-9a-z]/gi, '').toUpperCase();

/** Names the parcels of a manifest whose owner is in doubt. */
export function Doubtful({ packages }: { packages: ManifestPackage[] }) {
  const flagged = useLoad(
    async (signal) => (await api().prealerts.list({ status: 'flagged', limit: FLAGGED }, { signal })).data,
    [],
  );
  return (
    <>
      <Named doubt="ownerless" packages={packages.filter(({ user_code }) => user_code === null)} />
      <Content of={flagged}>
        {(claims) => <Named doubt="disputed" packages={packages.filter(isClaimedIn(claims))} />}
      </Content>
    </>
  );
}

function isClaimedIn(claims: Prealert[]): (row: ManifestPackage) => boolean {
  const keys = new Set(claims.map(({ tracking_number }) => keyOf(tracking_number)));
  return ({ tracking_number }) => keys.has(keyOf(tracking_number));
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
