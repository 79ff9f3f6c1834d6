import type { ScanResolution } from '../../../sdk/typescript/src/index.js';
import { isManifestNumber, isOneParcel, type Parcel } from '../station/work.js';
import type { TextKey } from '../texts/en.js';
import { pounds, t, textOf } from '../texts/texts.js';
import { show } from '../ui/outcome.js';
import { Tag } from '../ui/parts.js';
import type { Tone } from '../ui/tone.js';

type Claim = ScanResolution['matches']['prealerts'][number];
type Names = {
  user_code: string | null;
  first_name: string | null;
  last_name: string | null;
  courier_name: string;
};

const nameOf = ({ user_code, first_name, last_name, courier_name }: Names): string =>
  [user_code, [first_name, last_name].filter(Boolean).join(' '), courier_name].filter(Boolean).join(' · ');

/** Whose parcel it is, as far as that is known, and all who have announced it. */
export function ParcelOwner({ parcel }: { parcel: Parcel }) {
  const { scan, resolution } = parcel;
  const [candidate] = resolution?.candidates ?? [];
  if (resolution && !isOneParcel(resolution))
    return <NoParcel number={resolution.text || scan} meaning={meaningOf(resolution)} />;
  if (!resolution && isManifestNumber(scan))
    return <NoParcel number={scan} meaning={t('receive.isManifest', { manifest: scan })} />;
  const claims = resolution?.matches.prealerts ?? [];
  const [claim, other] = claims;
  const isAgreed = !other && claim?.user_code === resolution?.owner?.user_code;
  return (
    <dl class="facts">
      <div class="fact-wide">
        <dt>{t('common.number')}</dt>
        <dd class="mono strong">{candidate?.tracking_number ?? resolution?.text ?? scan}</dd>
      </div>
      {candidate && (
        <div>
          <dt>{t('common.carrier')}</dt>
          <dd>{candidate.carrier_name}</dd>
        </div>
      )}
      <div>
        <dt>{t('common.owner')}</dt>
        <dd class="strong">{ownerText(parcel)}</dd>
      </div>
      {claim && isAgreed ? (
        <Vendor of={claim} />
      ) : (
        claims.map((each) => <ClaimFact key={each.prealert_id} of={each} />)
      )}
    </dl>
  );
}

export function ownerText({ resolution, customer }: Parcel): string {
  if (customer) return nameOf(customer);
  if (!resolution) return t('receive.ownerLater');
  const { owner, matches } = resolution;
  if (owner) return nameOf(owner);
  if (matches.prealerts.length > 0) return t('receive.ownerOpen');
  return t(matches.packages.length > 0 ? 'receive.packageNoOwner' : 'receive.noOwner');
}

const Vendor = ({ of: { vendor } }: { of: Claim }) =>
  vendor ? (
    <div>
      <dt>{t('common.vendor')}</dt>
      <dd>{vendor}</dd>
    </div>
  ) : null;

/** One who has announced the parcel. */
export const ClaimFact = ({ of }: { of: Claim }) => (
  <div class="fact-wide">
    <dt>{t('receive.claim')}</dt>
    <dd>
      {[nameOf(of), of.vendor].filter(Boolean).join(' · ')}{' '}
      <Tag tint={of.status === 'flagged' ? 'warn' : 'plain'}>{textOf('prealert', of.status)}</Tag>
    </dd>
  </div>
);

function NoParcel({ number, meaning }: { number: string; meaning: string | undefined }) {
  return (
    <dl class="facts">
      <div class="fact-wide">
        <dt>{t('common.number')}</dt>
        <dd class="mono strong">{number}</dd>
      </div>
      <div class="fact-wide">
        <dt>{t('find.meaning')}</dt>
        <dd class="strong">{meaning}</dd>
      </div>
    </dl>
  );
}

/** Says that a scan is no parcel; undefined for one that is. */
export function meaningOf({ kind, numbers, matches }: ScanResolution): string | undefined {
  if (kind === 'several_numbers') return t('receive.several', { numbers: numbers.join(', ') });
  if (kind === 'manifest')
    return t('receive.isManifest', { manifest: matches.manifests[0]?.manifest_number ?? '' });
  if (kind === 'customer')
    return t('receive.isCustomer', { customer: matches.customers.map(nameOf).join('; ') });
  return undefined;
}

/** Says what was scanned: whose it is, or why a person must look. */
export function showMeaning(scan: string, resolution: ScanResolution): void {
  const { kind, matches, next, owner } = resolution;
  const [found] = matches.packages;
  const say = (tone: Tone, word: TextKey, detail: string) => show(tone, t(word), detail, scan);
  if (!isOneParcel(resolution))
    say('bad', kind === 'several_numbers' ? 'word.oneCode' : 'word.noParcel', meaningOf(resolution) ?? '');
  else if (found) {
    const facts = [pounds(found.weight), found.house_number, found.user_code, textOf('status', found.status)];
    say('warn', 'word.alreadyReceived', facts.filter(Boolean).join(' · '));
  } else if (next === 'review') say('warn', 'word.checkOwner', t('receive.review'));
  else if (next === 'unknown') say('warn', 'word.unknown', `${scan}: ${t('receive.unknown')}`);
  else if (owner) say('wait', 'word.weigh', nameOf(owner));
  else say('warn', 'word.noOwner', t('receive.notAnnounced'));
}
